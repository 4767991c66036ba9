package bench

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Spent is the cost of some turns of a loop. A loop process prints it.
type Spent struct {
	Turns  int           `json:"turns"`
	Wall   time.Duration `json:"wall_ns"`
	CPU    time.Duration `json:"cpu_ns"` // of the process and all children that it waited for
	Allocs uint64        `json:"allocs"`
	Bytes  uint64        `json:"alloc_bytes"`
}

// meter reads the clocks at the second request and at the last one.
type meter struct {
	now  func() time.Time
	last int // number of the last request

	mu    sync.Mutex // guards the fields below
	count int
	begun Spent
	start time.Time
	spent Spent
}

// tick records that a request is about to be sent.
func (m *meter) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	switch m.count {
	case 2:
		m.begun, m.start = m.read(), m.now()
	case m.last:
		end := m.read()
		m.spent = Spent{
			Turns: m.last - 2, Wall: m.now().Sub(m.start), CPU: end.CPU - m.begun.CPU,
			Allocs: end.Allocs - m.begun.Allocs, Bytes: end.Bytes - m.begun.Bytes,
		}
	}
}

func (m *meter) read() Spent {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return Spent{CPU: spent(), Allocs: mem.Mallocs, Bytes: mem.TotalAlloc}
}

// result returns the measured cost.
func (m *meter) result() Spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}

// metered is a model that reports its calls to a meter.
type metered struct {
	llm.Model
	meter *meter
}

// Stream implements [llm.Model].
func (m metered) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	m.meter.tick()
	return m.Model.Stream(ctx, r, heard)
}
