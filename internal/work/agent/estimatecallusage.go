package agent

import (
	"errors"
	"net"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// CallUsage returns the usage of a call, and whether it is an estimate. A call that the
// provider rejected, or that never reached it, used nothing.
func CallUsage(r llm.Request, resp llm.Response, said int, err error) (u nexus.Usage, estimated bool) {
	u = resp.Usage
	if err == nil {
		if u != (nexus.Usage{}) {
			return u, resp.Estimated
		}
		for _, call := range resp.ToolCalls() {
			said += len(call.Input)
		}
		return nexus.Usage{Input: llm.EstimateTokens(llm.EstimateRequest(r)), Output: llm.EstimateTokens(int64(max(said, len(resp.Message.Text()))))}, true
	}
	if u == (nexus.Usage{}) && said == 0 && wasRejectedBeforeStart(err) {
		return u, false
	}
	if u.PromptTokens() == 0 {
		u.Input = llm.EstimateTokens(llm.EstimateRequest(r))
	}
	u.Output = max(u.Output, llm.EstimateTokens(int64(said)))
	return u, true
}

// wasRejectedBeforeStart reports whether a call failed before the model began.
func wasRejectedBeforeStart(err error) bool {
	if e, ok := errors.AsType[*llm.ModelCallError](err); ok && e.Status >= 400 {
		return true
	}
	o, ok := errors.AsType[*net.OpError](err)
	return ok && o.Op == "dial"
}
