/* elf.h - what is asked of an ELF file in memory: how long it is, and which functions it has.
 *
 * The bytes may be anyone's: no offset and no size in them is believed before it is known to lie in the room that there
 * is.  They need no alignment.
 */
#ifndef TD_DEV_ELF_H
#define TD_DEV_ELF_H
#include <stdbool.h>
#include <stddef.h>

bool   td_elf_is(const void *image); /* does it begin like an ELF file?  Reads 4 bytes, as far as they agree */
/* Bytes of the whole file, by its own tables.  room: how many there are; SIZE_MAX: the file is believed.  0: it is cut
 * off, or no file of 64 bits. */
size_t td_elf_extent(const void *image, size_t room);
/* Is it a shared object for this machine's CPU?  Of a file that has an extent. */
bool   td_elf_is_ours(const void *image);
/* The name of the n-th defined function, in the symbol tables' order; borrowed from the image.  NULL: there are fewer. */
const char *td_elf_function(const void *image, size_t nbytes, int n);

#endif
