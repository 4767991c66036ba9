package shop

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/cast"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// Offer is what stands before the first message of a conversation.
type Offer struct {
	Model   string // provider/model
	Context int64  // most tokens that it holds; 0 where nobody knows
	Tier    nexus.Tier
	System  []prompt.Part
	Tools   []llm.Tool // of our own; those of servers join when the conversation begins
}

// Offer returns what [Shop.Converse] would begin a conversation with. It asks
// nobody, starts nothing and records nothing.
func (s *Shop) Offer(ctx context.Context, t Talk) (Offer, error) {
	role, ok := s.Roles[t.Role]
	if !ok {
		return Offer{}, fmt.Errorf("there is no role %q", t.Role)
	}
	tier := t.tier(role)
	t.Record = func(context.Context, ...nexus.Fact) error { return nil }
	model, err := s.pick(ctx, t, tier)
	if err != nil {
		return Offer{}, err
	}
	code, err := s.codeMap(ctx, t, role, model)
	if err != nil {
		return Offer{}, err
	}
	o := Offer{Model: model.Name, Context: model.Context, Tier: tier, System: prompt.SystemParts(role.Prompt, s.Rules, code)}
	for i := range o.System {
		o.System[i].Text = s.masked(o.System[i].Text)
	}
	dir, err := os.MkdirTemp("", "nexus-prompt-") // tools belong to a tree, and none is made for this
	if err != nil {
		return Offer{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is empty
	set, err := tool.New(tool.Env{
		Dir: dir, Writes: role.Writes != cast.Nothing, Net: s.Net.Role(string(role.Name)), Handin: t.Handin, Claims: s.Checked() && t.Role == nexus.Tester,
	}, s.offered(role, tier)...)
	if err != nil {
		return Offer{}, err
	}
	defer set.Close()
	o.Tools = set.Specs()
	return o, nil
}

// Tokens returns about how many tokens the tools take.
func (o Offer) Tokens() int64 {
	data, _ := json.Marshal(o.Tools)
	return prompt.Tokens(string(data))
}
