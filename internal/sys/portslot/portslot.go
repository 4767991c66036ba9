// Package portslot reserves a distinct number for each attempt that runs on this machine, from
// which its ports are derived. An attempt gets the same number again if it is free.
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
	slotCount    = 800
	firstPort    = 16_000 // first port; the last is below the range that systems assign to clients
	portsPerSlot = 20
)

// PortSlot is a number that is reserved until it is released, or this process ends.
type PortSlot struct {
	N    int
	lock *flock.Flock
}

// AcquirePortSlot reserves the preferred slot of an owner, or the next free one. All processes of this user
// must use the same dir.
func AcquirePortSlot(dir, owner string) (*PortSlot, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("take a slot: %w", err)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	for i := range slotCount {
		n := (int(h.Sum32()%slotCount) + i) % slotCount
		lock := flock.New(filepath.Join(dir, strconv.Itoa(n)+".lock"))
		switch ok, err := lock.TryLock(); {
		case err != nil:
			return nil, fmt.Errorf("take a slot: %w", err)
		case ok:
			return &PortSlot{n, lock}, nil
		}
	}
	return nil, fmt.Errorf("take a slot: all %d are taken", slotCount)
}

// Release releases the slot.
func (s *PortSlot) Release() error { return s.lock.Unlock() }

// portRange returns the first of the slot's ports, and their number.
func (s *PortSlot) portRange() (base, n int) { return firstPort + s.N*portsPerSlot, portsPerSlot }

// EnvironmentVariables returns the environment variables with the resources of an owner's commands; private means
// that they have their own /tmp.
func (s *PortSlot) EnvironmentVariables(owner string, private bool) []string {
	base, _ := s.portRange()
	port := strconv.Itoa(base)
	env := []string{"NEXUS_PORT_BASE=" + port, "PORT=" + port, "COMPOSE_PROJECT_NAME=" + composeProject(owner)}
	if private {
		env = append(env, "TMPDIR=/tmp")
	}
	return env
}

// composeProject returns a valid project name for compose: lower-case letters, digits and dashes.
func composeProject(owner string) string {
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
