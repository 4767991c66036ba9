package health

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Sample is what was measured of the machine at one moment.
type Sample struct {
	At        time.Time `json:"at"`
	Memory    int64     `json:"memory"`    // bytes that the machine has; 0: unknown
	Available int64     `json:"available"` // bytes of it that can still be used
	Free      int64     `json:"disk_free"` // bytes on the disk of the state that can still be written
	Disk      bool      `json:"disk"`      // Free is known
}

// Machine decides when what is measured of the machine is an alert, and when it
// is one no more. It is made by [Raised].
type Machine struct {
	raised map[nexus.AlertKind]bool
	since  map[nexus.AlertKind]time.Time // since when it is otherwise than what was said
}

// Raised returns the book of a run whose alerts are known.
func Raised(all []state.RaisedAlert) *Machine {
	m := &Machine{raised: map[nexus.AlertKind]bool{}, since: map[nexus.AlertKind]time.Time{}}
	for _, a := range all {
		m.raised[a.Kind] = true
	}
	return m
}

// ApplySample returns what is to be recorded after a sample. What passes its bound
// has to stay there for a while, and what comes back has to come back by more
// than a little and to stay: who stands at the bound is told of once.
func (m *Machine) ApplySample(a nexus.Alerts, s Sample) []nexus.Fact {
	var all []nexus.Fact
	const room = 5 // percent of memory
	if s.Memory > 0 {
		used := int((s.Memory - s.Available) * 100 / s.Memory)
		why := fmt.Sprintf("%d %% of the machine's memory is in use", used)
		all = append(all, m.weigh(nexus.AlertMemory, a, s.At, a.Memory > 0 && used >= a.Memory, a.Memory == 0 || used < a.Memory-room, why)...)
	}
	if s.Disk {
		why := fmt.Sprintf("%d MB are free on the disk of the state", s.Free>>20)
		all = append(all, m.weigh(nexus.AlertDisk, a, s.At, a.Disk > 0 && s.Free < a.Disk, s.Free >= a.Disk+a.Disk/4, why)...)
	}
	return all
}

// weigh raises or clears one alert.
func (m *Machine) weigh(kind nexus.AlertKind, a nexus.Alerts, now time.Time, over, under bool, why string) []nexus.Fact {
	raised := m.raised[kind]
	if raised && !under || !raised && !over {
		delete(m.since, kind)
		return nil
	}
	since, known := m.since[kind]
	if !known {
		since = now
		m.since[kind] = now
	}
	if now.Sub(since) < a.Lasting {
		return nil
	}
	delete(m.since, kind)
	m.raised[kind] = !raised
	if raised {
		return []nexus.Fact{nexus.AlertCleared{Kind: kind, Why: why}}
	}
	return []nexus.Fact{nexus.AlertRaised{Kind: kind, Why: why}}
}
