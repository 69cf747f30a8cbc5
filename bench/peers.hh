// peers.hh - what each file of peers adds to the list.
#ifndef TAPER_PEERS_HH
#define TAPER_PEERS_HH

#include "bench.hh"

void add_compiler(std::vector<Peer> &list);
void add_eigen(std::vector<Peer> &list);
void add_fp16(std::vector<Peer> &list);
void add_highway(std::vector<Peer> &list);
void add_xnnpack(std::vector<Peer> &list);

#endif
