package health

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// MachineSample is a measurement of the machine.
type MachineSample struct {
	At        time.Time `json:"at"`
	Memory    int64     `json:"memory"`    // bytes of installed memory; 0: unknown
	Available int64     `json:"available"` // bytes of available memory
	Free      int64     `json:"disk_free"` // bytes of free space on the disk of the state directory
	Disk      bool      `json:"disk"`      // Free is known
}

// MachineAlertDecider decides when measurements of the machine raise and clear an alert. [NewMachineAlerts] returns
// a new one.
type MachineAlertDecider struct {
	raised map[nexus.AlertKind]bool
	since  map[nexus.AlertKind]time.Time // since when the measurement has differed from the alert's state
}

// NewMachineAlerts returns the Machine of a run with the given alerts.
func NewMachineAlerts(all []state.RaisedAlert) *MachineAlertDecider {
	m := &MachineAlertDecider{raised: map[nexus.AlertKind]bool{}, since: map[nexus.AlertKind]time.Time{}}
	for _, a := range all {
		m.raised[a.Kind] = true
	}
	return m
}

// ApplySample returns the facts to record after a sample. A value must stay beyond its
// threshold for a while to raise an alert, and must come back by a margin and stay there to
// clear it: a value close to the threshold raises only one alert.
func (m *MachineAlertDecider) ApplySample(a nexus.AlertThresholds, s MachineSample) []nexus.Fact {
	var all []nexus.Fact
	const room = 5 // percent of memory
	if s.Memory > 0 {
		used := int((s.Memory - s.Available) * 100 / s.Memory)
		why := fmt.Sprintf("%d %% of the machine's memory is in use", used)
		all = append(all, m.updateAlert(nexus.AlertMemory, a, s.At, a.Memory > 0 && used >= a.Memory, a.Memory == 0 || used < a.Memory-room, why)...)
	}
	if s.Disk {
		why := fmt.Sprintf("%d MB are free on the disk of the state", s.Free>>20)
		all = append(all, m.updateAlert(nexus.AlertDisk, a, s.At, a.Disk > 0 && s.Free < a.Disk, s.Free >= a.Disk+a.Disk/4, why)...)
	}
	return all
}

// updateAlert raises or clears one alert.
func (m *MachineAlertDecider) updateAlert(kind nexus.AlertKind, a nexus.AlertThresholds, now time.Time, over, under bool, why string) []nexus.Fact {
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
