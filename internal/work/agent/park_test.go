package agent_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// TestUsedUpQuotaIsAFact lets a window be used up for an hour: that is
// recorded, and leave is asked for at once, since the desk holds the call.
func TestUsedUpQuotaIsAFact(t *testing.T) {
	b := newBench(t, nexus.Coder, llmtest.Script{})
	b.brief.Retry = llm.Policy{}
	synctest.Test(t, func(t *testing.T) {
		b.brief.Now = time.Now
		start := time.Now()
		b.model = &busy{errs: []*llm.Error{
			{Class: llm.Quota, Status: 429, After: "3600", Cause: errors.New("used up")},
			{Class: llm.Quota, Status: 429, After: "2", Empty: true, Cause: errors.New("used up")},
			{Class: llm.Quota, Status: 429, After: "2", Cause: errors.New("slow down")},
		}}
		out, err := b.run(t.Context())
		if err != nil || out.Outcome != nexus.Accepted {
			t.Fatalf("%+v, %v", out, err)
		}
		var until []time.Duration
		for _, f := range b.desk.Facts() {
			if f, ok := f.(nexus.QuotaHit); ok {
				until = append(until, f.Until.Sub(start))
			}
		}
		if len(until) != 2 || until[0] != time.Hour || until[1] != 2*time.Second {
			t.Errorf("parked for %v", until)
		}
	})
	settled(t, b)
}
