// Package killswitch is the kill switch: a file named STOP that, for as long as it
// is there, ends every run that looks for it and keeps new ones from starting.
// Anybody can make it, with nothing but touch; no program takes it away
// unasked, so that it holds over crashes and restarts.
package killswitch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Name is what the file is called.
const Name = "STOP"

// Tick is how often who works looks for the file: a run hears of it at most
// this long after it was made.
const Tick = 250 * time.Millisecond

// longest is the most that is read of a reason.
const longest = 500

// Switch is the directories where the file counts, the widest first.
type Switch []string

// Stop is a switch that is thrown.
type Stop struct {
	Path string    `json:"path"`
	Why  string    `json:"why,omitzero"` // what the file says, on one line
	At   time.Time `json:"at,omitzero"`
}

// ActiveStop returns the first file that is there, nil when none is. What cannot
// be looked at counts as there: who cannot tell must not continue.
func (s Switch) ActiveStop() *Stop {
	for _, dir := range s {
		path := filepath.Join(dir, Name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		case err != nil:
			return &Stop{Path: path, Why: "it cannot be looked at: " + err.Error()}
		default:
			return &Stop{Path: path, Why: reason(path, info), At: info.ModTime().UTC()}
		}
	}
	return nil
}

// reason returns what a file says, if it is one.
func reason(path string, info fs.FileInfo) string {
	if !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "" // it is there, which is enough
	}
	defer func() { _ = f.Close() }()                  // only read
	data, _ := io.ReadAll(io.LimitReader(f, longest)) // what cannot be read says nothing
	return strings.Join(strings.Fields(sanitize.Show(strings.ToValidUTF8(string(data), "?"))), " ")
}

// Watch waits until the switch is thrown, and returns nil where the context
// ended before.
func (s Switch) Watch(ctx context.Context) *Stop {
	beat := time.NewTicker(Tick)
	defer beat.Stop()
	for {
		if st := s.ActiveStop(); st != nil {
			return st
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Err returns an error while the switch is thrown.
func (s Switch) Err() error {
	if st := s.ActiveStop(); st != nil {
		return st.Err()
	}
	return nil
}

// Err returns the switch as an error.
func (s *Stop) Err() error {
	message := "the kill switch " + s.Path + " is thrown"
	if s.Why != "" {
		message += ": " + s.Why
	}
	return &nexus.Error{
		Code: nexus.CodeHalted, Message: message,
		Hint: "Nothing starts or continues until it is lifted with nexus stop --lift. After that, nexus resume continues a run.",
	}
}

// Throw makes the file in a directory. One that is there stays as it is.
func Throw(dir, why string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return disk.WrapError("throw the kill switch", err)
	}
	path := filepath.Join(dir, Name)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := disk.Write(path, []byte(why+"\n")); err != nil && (Switch{dir}).ActiveStop() == nil {
		return fmt.Errorf("throw the kill switch: %w", err)
	}
	return nil // also on a full disk, where it is empty
}

// Lift removes the file from a directory, and reports whether it was there.
func Lift(dir string) (bool, error) {
	switch err := os.Remove(filepath.Join(dir, Name)); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		return false, &nexus.Error{
			Code: nexus.CodeStorage, Message: "lift the kill switch", Cause: err,
			Hint: "Another user created it: ask them to remove it.",
		}
	}
	return true, nil
}
