# SPDX-License-Identifier: BSD-3-Clause
# For makefiles of programs, with GNU make:
#
#     include $(shell pkg-config --variable=makefile libmeta)
#     heat: heat.o heat.kernel.o
#
# The C file heat.kernel.c is written from heat.kernel.h, with the CPU code of its kernels and their text.
# Sources of the program include the kernel file and define nothing.
PKG_CONFIG ?= pkg-config
META_KERNEL ?= $(shell $(PKG_CONFIG) --variable=bindir libmeta)/meta-kernel

%.kernel.c: %.kernel.h
	"$(META_KERNEL)" embed '$<' -o '$@'
