/* interrupt.h - signals that ask the program to stop, turned into a question. */
#ifndef TAPER_INTERRUPT_H
#define TAPER_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are only noted, and writing past a limit on
 * file sizes is an error of the write instead of a signal. */
void interrupt_catch(void);

/* Whether one has come. */
bool interrupt_came(void);

/* Ends the program by the signal that came, so that a shell sees what happened. */
void interrupt_die(void);

#endif
