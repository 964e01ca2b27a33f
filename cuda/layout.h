// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the pixels of passes lie among the threads of a kernel; inside the CUDA engine only. All of it depends
// on the plan, and on where frames lie only by what they are aligned to.
#pragma once

#include "cuda_kernels.h"

namespace cudawarp {

// Parts of it that several kernels have.

// Whether the output can be written in words of so many bytes.
bool is_aligned(const KernelPass& k, int bytes);

// The pass's blocks of so many pixels, behind `blocks` of others, which it adds to.
void set_blocks(KernelPass& k, int width, int height, int& blocks);

// Where no pixel mixes with the border, and clamped taps are right.
void set_region(KernelPass& k);

// From a pixel as the source stores it to one as the output does.
void set_permutation(KernelPass& k);

// A border of constant colour as a texel of the source; not where it has an alpha that texels have not.
bool has_border_texel(const PassPlan& p);
void set_border_texel(KernelPass& k);

// Bytes of a texel where the source and the output of a pass have the same ones, channels in any order, and
// whole words of them can be written; else 0.
int same_texels(const KernelPass& k);

// A launch by tiles that does all passes, laid out; of a kernel that is null where none does.
Launch lay_out_tiles(KernelArgs& args, Interpolation interpolation);

}  // namespace cudawarp
