/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own pipeline in numbers, for the renderers of verdicts: layer by layer, CPU by CPU. What its
 * tracepoints do not tell is "-" in text and null in JSON.
 */
#ifndef RENDER_KERNEL_H
#define RENDER_KERNEL_H

#include <stdio.h>

#include "da_json.h"
#include "da_kernel.h"

/* title: its heading, which gets a line of its own. */
void render_kernel_text(FILE *f, const struct da_kernel *k, const char *title, bool per_cpu);
/* As the value of key "kernel"; null for NULL. */
void render_kernel_json(struct da_json_out *w, const struct da_kernel *k, const char *why_not);

#endif
