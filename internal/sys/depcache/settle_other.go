//go:build !linux

package depcache

import "os"

func settle(string) error { return nil }

func change(info os.FileInfo) (when int64, number uint64) { return info.ModTime().UnixNano(), 0 }
