//go:build !unix

package worktree

import "io/fs"

const noFollow = 0

func linked(fs.FileInfo) bool { return false }
