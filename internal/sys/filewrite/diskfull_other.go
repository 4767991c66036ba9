//go:build !unix

package filewrite

func isDiskFull(error) bool { return false }
