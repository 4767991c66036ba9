package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
)

// open returns a box of one kind, which has not been tested yet.
func open(m Mode) (*Box, error) {
	// Descriptors that this process inherited must not reach a command.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("close inherited files on exec (Linux 5.11 or later is needed): %w", err)
	}
	switch m {
	case Native:
		_, err := jail.Filter(true)
		return &Box{mode: m, system: systemView(), tools: toolDirs(os.Environ()), groups: groups()}, err
	case Landlock:
		if jail.ABI() < 3 {
			return nil, fmt.Errorf("this kernel's Landlock is version %d, and 3 (Linux 6.2) is needed", jail.ABI())
		}
		_, err := jail.Filter(false)
		return &Box{mode: m, system: systemView(), tools: toolDirs(os.Environ()), groups: groups()}, err
	case Bwrap:
		path, err := findBwrap()
		if err != nil {
			return nil, err
		}
		return newBwrap(path)
	default:
		return nil, errors.New("no such sandbox")
	}
}

func (b *Box) run(ctx context.Context, c Command) (Result, error) {
	switch b.mode {
	case Native, Landlock:
		return b.runJail(ctx, c)
	case Bwrap:
		return b.runBwrap(ctx, c)
	default:
		return runOff(ctx, c)
	}
}
