package block

import "syscall"

// noReserve lets a cache larger than the memory be mapped, although in principle
// all of it could be changed.
const noReserve = syscall.MAP_NORESERVE
