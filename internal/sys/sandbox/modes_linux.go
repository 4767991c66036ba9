package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
)

// openBox returns a box of one kind, which has not been tested yet.
func openBox(m ConfinementMode) (*Box, error) {
	// Descriptors that this process inherited must not reach a command.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("close inherited files on exec (Linux 5.11 or later is needed): %w", err)
	}
	switch m {
	case ModeNative:
		_, err := jail.BuildSeccompFilter(true)
		return &Box{mode: m, system: systemView(), tools: toolDirs(os.Environ()), groups: findControlGroupParent()}, err
	case ModeLandlock:
		if jail.LandlockVersion() < 3 {
			return nil, fmt.Errorf("this kernel's Landlock is version %d, and 3 (Linux 6.2) is needed", jail.LandlockVersion())
		}
		_, err := jail.BuildSeccompFilter(false)
		return &Box{mode: m, system: systemView(), tools: toolDirs(os.Environ()), groups: findControlGroupParent()}, err
	case ModeBwrap:
		path, err := findBwrap()
		if err != nil {
			return nil, err
		}
		return newBubblewrapBox(path)
	default:
		return nil, errors.New("no such sandbox")
	}
}

func (b *Box) runConfined(ctx context.Context, c Command) (Result, error) {
	switch b.mode {
	case ModeNative, ModeLandlock:
		return b.runJail(ctx, c)
	case ModeBwrap:
		return b.runBwrap(ctx, c)
	default:
		return runUnconfined(ctx, c)
	}
}
