/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Long output on a terminal goes through a pager: $PAGER, else less where it is installed; none when
 * PAGER is empty or cat.
 */
#ifndef DA_PAGER_H
#define DA_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct pager {
	FILE *f;   /* where to write; stdout without a pager */
	pid_t pid; /* 0: no pager */
};

/* Columns and rows of the terminal on standard output; false if there is none. */
bool pager_terminal(unsigned *columns, unsigned *rows);
/* Starts the pager if standard output is a terminal and one is wanted; else p->f is stdout. */
void pager_start(struct pager *p);
/* Ends the output and waits for the user. False if writing failed for another reason than a pager that
 * was left early. */
bool pager_end(struct pager *p);
/* Writes a whole text, through the pager if it is longer than the terminal. */
bool pager_text(const char *text, size_t len);

#endif
