// Package killswitch stops all runs with a file named STOP: while it exists, every run that
// watches it ends, and new runs do not start. Anybody can create it, for example with touch. No
// program removes it without being asked, so that it survives crashes and restarts.
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
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// FileName is the name of the file.
const FileName = "STOP"

// PollInterval is the interval at which the file is checked: a run stops at most this long after the file
// was created.
const PollInterval = 250 * time.Millisecond

// maxReason limits the bytes read of a reason.
const maxReason = 500

// Switch lists the directories in which the file counts, the widest first.
type Switch []string

// ActiveKillSwitch is an active switch.
type ActiveKillSwitch struct {
	Path string    `json:"path"`
	Why  string    `json:"why,omitzero"` // content of the file, on one line
	At   time.Time `json:"at,omitzero"`
}

// ActiveStop returns the first existing file, or nil. A file that cannot be checked counts as
// existing: if the state is unknown, work must not continue.
func (s Switch) ActiveStop() *ActiveKillSwitch {
	for _, dir := range s {
		path := filepath.Join(dir, FileName)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		case err != nil:
			return &ActiveKillSwitch{Path: path, Why: "it cannot be looked at: " + err.Error()}
		default:
			return &ActiveKillSwitch{Path: path, Why: readReason(path, info), At: info.ModTime().UTC()}
		}
	}
	return nil
}

// readReason returns the content of a regular file.
func readReason(path string, info fs.FileInfo) string {
	if !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "" // it exists, which is enough
	}
	defer func() { _ = f.Close() }()                    // only read
	data, _ := io.ReadAll(io.LimitReader(f, maxReason)) // an unreadable file has no reason
	return strings.Join(strings.Fields(sanitize.RevealHidden(strings.ToValidUTF8(string(data), "?"))), " ")
}

// WaitUntilActive waits until the switch is active, and returns nil if the context ended before.
func (s Switch) WaitUntilActive(ctx context.Context) *ActiveKillSwitch {
	beat := time.NewTicker(PollInterval)
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

// ErrIfActive returns an error while the switch is active.
func (s Switch) ErrIfActive() error {
	if st := s.ActiveStop(); st != nil {
		return st.Err()
	}
	return nil
}

// Err returns the switch as an error.
func (s *ActiveKillSwitch) Err() error {
	message := "the kill switch " + s.Path + " is thrown"
	if s.Why != "" {
		message += ": " + s.Why
	}
	return &nexus.Error{
		Code: nexus.CodeHalted, Message: message,
		Hint: "Nothing starts or continues until it is lifted with nexus stop --lift. After that, nexus resume continues a run.",
	}
}

// SwitchOn creates the file in a directory. An existing one is unchanged.
func SwitchOn(dir, why string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return filewrite.WrapError("throw the kill switch", err)
	}
	path := filepath.Join(dir, FileName)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := filewrite.WriteFile(path, []byte(why+"\n")); err != nil && (Switch{dir}).ActiveStop() == nil {
		return fmt.Errorf("throw the kill switch: %w", err)
	}
	return nil // even on a full disk, where it is empty
}

// SwitchOff removes the file from a directory, and reports whether it existed.
func SwitchOff(dir string) (bool, error) {
	switch err := os.Remove(filepath.Join(dir, FileName)); {
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
