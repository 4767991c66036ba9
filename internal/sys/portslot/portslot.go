// Package portslot gives each attempt that runs on this machine a number of its
// own, from which its ports follow. The same attempt gets the same number
// whenever nobody else has it.
package portslot

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/gofrs/flock"
)

const (
	slots   = 800
	first   = 16_000 // port; the last is below those that systems hand out themselves
	perSlot = 20
)

// Slot is a number that nobody else has until it is released, or this process
// ends.
type Slot struct {
	N    int
	lock *flock.Flock
}

// Take takes the slot of an owner, or the next that is free. Dir is where all
// processes of this user agree on who has which.
func Take(dir, owner string) (*Slot, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("take a slot: %w", err)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	for i := range slots {
		n := (int(h.Sum32()%slots) + i) % slots
		lock := flock.New(filepath.Join(dir, strconv.Itoa(n)+".lock"))
		switch ok, err := lock.TryLock(); {
		case err != nil:
			return nil, fmt.Errorf("take a slot: %w", err)
		case ok:
			return &Slot{n, lock}, nil
		}
	}
	return nil, fmt.Errorf("take a slot: all %d are taken", slots)
}

// Release lets others have it.
func (s *Slot) Release() error { return s.lock.Unlock() }

// ports returns the first of the ports that are the slot's, and how many.
func (s *Slot) ports() (base, n int) { return first + s.N*perSlot, perSlot }

// Env returns the environment that tells an owner's commands what is theirs.
// Private says that /tmp is nobody else's.
func (s *Slot) Env(owner string, private bool) []string {
	base, _ := s.ports()
	port := strconv.Itoa(base)
	env := []string{"NEXUS_PORT_BASE=" + port, "PORT=" + port, "COMPOSE_PROJECT_NAME=" + project(owner)}
	if private {
		env = append(env, "TMPDIR=/tmp")
	}
	return env
}

// project returns a name that compose takes: small letters, digits and dashes.
func project(owner string) string {
	return "nexus-" + strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return unicode.ToLower(r)
		default:
			return '-'
		}
	}, owner), "-")
}
