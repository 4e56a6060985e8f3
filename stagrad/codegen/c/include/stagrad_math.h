/* Mathematical functions by their plain names, for every type of number. */
#ifndef STAGRAD_MATH_H
#define STAGRAD_MATH_H

#include <tgmath.h>

#endif
