//go:build !unix

package worktree

func full(error) bool { return false }
