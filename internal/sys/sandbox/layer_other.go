//go:build !linux

package sandbox

import (
	"io/fs"
	"time"
)

func gone(fs.FileInfo) bool { return false }

func hides(string) bool { return false }

func changed(info fs.FileInfo) time.Time { return info.ModTime() }
