//go:build !linux

package sandbox

import (
	"io/fs"
	"time"
)

func isWhiteout(fs.FileInfo) bool { return false }

func isOpaqueDir(string) bool { return false }

func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
