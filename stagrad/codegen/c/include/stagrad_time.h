/* The clock of programs that time their steps. */
#ifndef STAGRAD_TIME_H
#define STAGRAD_TIME_H

#include <time.h>

/* Seconds since some moment. */
static inline double sg_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
