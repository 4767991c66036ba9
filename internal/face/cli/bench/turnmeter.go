package bench

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// LoopCost is the cost of some turns of a loop. A loop process prints it.
type LoopCost struct {
	Turns  int           `json:"turns"`
	Wall   time.Duration `json:"wall_ns"`
	CPU    time.Duration `json:"cpu_ns"` // of the process and all children that it waited for
	Allocs uint64        `json:"allocs"`
	Bytes  uint64        `json:"alloc_bytes"`
}

// turnMeter reads the clocks at the second request and at the last one.
type turnMeter struct {
	now  func() time.Time
	last int // number of the last request

	mu    sync.Mutex // guards the fields below
	count int
	begun LoopCost
	start time.Time
	spent LoopCost
}

// noteRequest records that a request is about to be sent.
func (m *turnMeter) noteRequest() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	switch m.count {
	case 2:
		m.begun, m.start = m.readClocks(), m.now()
	case m.last:
		end := m.readClocks()
		m.spent = LoopCost{
			Turns: m.last - 2, Wall: m.now().Sub(m.start), CPU: end.CPU - m.begun.CPU,
			Allocs: end.Allocs - m.begun.Allocs, Bytes: end.Bytes - m.begun.Bytes,
		}
	}
}

func (m *turnMeter) readClocks() LoopCost {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return LoopCost{CPU: processorTime(), Allocs: mem.Mallocs, Bytes: mem.TotalAlloc}
}

// loopCost returns the measured cost.
func (m *turnMeter) loopCost() LoopCost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}

// meteredModel is a model that reports its calls to a meter.
type meteredModel struct {
	llm.Model
	meter *turnMeter
}

// Stream implements [llm.Model].
func (m meteredModel) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	m.meter.noteRequest()
	return m.Model.Stream(ctx, r, heard)
}
