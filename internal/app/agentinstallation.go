package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// AgentTrustKey is the key of the trusted agents in the trust store, in the place of a
// repository: they work with the user's own login.
const AgentTrustKey = "/agents"

// defaultAgentBudget is the most that a prompt may cost with an agent that is paid by use.
const defaultAgentBudget = 2 * nexus.Dollar

// minSecret is the shortest value of a program's variable that is treated as a secret.
const minSecret = 20

// FindAgentProgram returns an agent program by its name, with its settings.
func FindAgentProgram(c config.Config, env func(string) string, name string) (agentcli.CLIAgentProgram, error) {
	var p agentcli.CLIAgentProgram
	for _, k := range agentcli.KnownPrograms() {
		if k.Name == name {
			p = k
		}
	}
	set, ours := c.Agents[name]
	if p.Name == "" && (!ours || set.Command == "") {
		return p, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("there is no agent %q", name),
			Hint: fmt.Sprintf("Use %s, or set agents.%s.command in your config.toml.", strings.Join(agentNames(c), ", "), name),
		}
	}
	p.Name = name
	p = p.WithProtocol(cmp.Or(set.Speaks, p.Speaks, "text"))
	if set.Command != "" && set.Command != p.Command {
		p.Install = "" // it may be another program
	}
	p.Command, p.Model = cmp.Or(set.Command, p.Command), cmp.Or(set.Model, p.Model)
	p.Mode, p.End = cmp.Or(set.Mode, p.Mode), set.End
	if set.Args != nil {
		p.Args = set.Args
	}
	if set.Hosts != nil {
		p.Hosts = set.Hosts
	}
	if set.Login != nil {
		p.Login = set.Login
	}
	if set.Billing != "" {
		p.Metered = set.Billing == "use"
	}
	p.Env = append(slices.Clip(p.Env), "DO_NOT_TRACK=1") // for programs that have no switch of their own
	for _, e := range set.Env {
		name, value, _ := strings.Cut(e, "=")
		if of, ok := strings.CutPrefix(value, "${"); ok && strings.HasSuffix(of, "}") {
			value = env(strings.TrimSuffix(of, "}"))
		}
		p.Env = append(slices.Clip(p.Env), name+"="+value)
	}
	return p, nil
}

// agentNames returns the names of all known or configured agents.
func agentNames(c config.Config) []string {
	var names []string
	for _, k := range agentcli.KnownPrograms() {
		names = append(names, k.Name)
	}
	for name := range c.Agents {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// AgentTrustItem returns the terms that a person agrees to by trusting an agent.
func AgentTrustItem(p agentcli.CLIAgentProgram) trust.TrustItem {
	list := func(all []string, none string) string { return cmp.Or(strings.Join(all, ", "), none) }
	var vars []string
	for _, e := range p.Env {
		name, _, _ := strings.Cut(e, "=")
		vars = append(vars, name)
	}
	renews := ""
	if len(p.Login) > 0 {
		renews = "A login that it renews there is written back to yours, if only its tokens and times changed.\n"
	}
	return trust.TrustItem{Name: "agent " + p.Name, Text: fmt.Sprintf(`%s runs %s %s
in the sandbox, in place of a model.
It reads: the task's worktree, toolchains, and a copy of its login (%s).
It writes: the task's worktree, and a home of its own that is deleted with the worktree.
%sIt reaches: %s.
It gets these variables: %s.
What it runs can read its login, too. It sees none of your other files and keys.
`, p.Name, p.Command, strings.Join(p.Args, " "), list(p.Login, "it has none"), renews, list(p.Hosts, "no host"), list(vars, "none"))}
}

// AgentInstallation is an agent program, with its state on this machine.
type AgentInstallation struct {
	agentcli.CLIAgentProgram

	File     string // empty: it is not installed
	Missing  error  // why it cannot be found
	LoggedIn bool
	Trusted  bool
	Roles    []nexus.Role // that it works for
}

// InstalledAgents returns the known or configured agent programs, ordered by name.
func (a *App) InstalledAgents(c config.Config) ([]AgentInstallation, error) {
	var all []AgentInstallation
	for _, name := range agentNames(c) {
		p, err := FindAgentProgram(c, a.Env, name)
		if err != nil {
			return nil, err
		}
		one := AgentInstallation{CLIAgentProgram: p, LoggedIn: isLoggedIn(c, p, a.Env("HOME"))}
		one.File, _, one.Missing = agentcli.FindProgram(p.Command, a.Env("PATH"))
		judged, err := a.TrustStore().ItemStates(AgentTrustKey, []trust.TrustItem{AgentTrustItem(p)})
		if err != nil {
			return nil, err
		}
		one.Trusted = judged[0].State == trust.StateTrusted
		for role, r := range c.Roles {
			if slices.Contains(strings.Split(r.Agent, ","), name) {
				one.Roles = append(one.Roles, role)
			}
		}
		slices.Sort(one.Roles)
		all = append(all, one)
	}
	return all, nil
}

// isLoggedIn reports whether an agent has a login, or variables of the user that may hold a key.
func isLoggedIn(c config.Config, p agentcli.CLIAgentProgram, home string) bool {
	return len(c.Agents[p.Name].Env) > 0 || p.IsLoggedIn(home)
}

// HasAllRoles reports whether the agent works in every role.
func (one AgentInstallation) HasAllRoles() bool {
	return !slices.ContainsFunc(sessionRoles(), func(r nexus.Role) bool { return !slices.Contains(one.Roles, r) })
}

// sessionRoles returns the roles in which an agent program can work, in the order in which they
// are needed.
func sessionRoles() []nexus.Role {
	return []nexus.Role{
		nexus.Planner, nexus.Coder, nexus.Tester, nexus.Editor, nexus.Reviewer, nexus.Verifier, nexus.Reproducer, nexus.Merger,
		nexus.Router, nexus.Scout, nexus.Checker, nexus.Interviewer,
	}
}

// ConfigWithAgentsIfNoModel sets agent programs for all roles if no model is configured and no role names an
// agent: a user who only has a program with a login can run a goal; see [route.ChoosePrograms]. If
// there is such a program and it is not trusted yet, the error explains how to trust it.
func (a *App) ConfigWithAgentsIfNoModel(c config.Config, tap provider.RecordingTransport) (config.Config, error) {
	if named, err := anyRoleNamesAgent(c, a.Env); named || err != nil {
		return c, err
	}
	models, err := provider.NewModelPicker(c, a.Env, a.Now)
	if err != nil {
		return c, err
	}
	_, err = models.UseKeysAndTransport(a.KeyStore(), tap).PickModel(nexus.Coder, "", "")
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeNoProvider {
		return c, nil // the code that needs the model reports that
	}
	all, err := a.InstalledAgents(c)
	if err != nil {
		return c, err
	}
	all = slices.DeleteFunc(all, func(one AgentInstallation) bool { return one.Missing != nil || !one.LoggedIn })
	usable := slices.DeleteFunc(slices.Clone(all), func(one AgentInstallation) bool { return !one.Trusted })
	if len(all) == 0 {
		return c, nil // the missing model is the problem
	}
	if len(usable) == 0 {
		return c, untrustedError(all[0].CLIAgentProgram, trust.StateNew)
	}
	programs := make([]route.AgentProgram, len(usable))
	for i, one := range usable {
		programs[i] = route.AgentProgram{Name: one.Name, Maker: one.Maker, Metered: one.Metered}
	}
	writes, reads := route.ChoosePrograms(programs)
	roles := maps.Clone(c.Roles)
	if roles == nil {
		roles = map[nexus.Role]config.RoleSettings{}
	}
	for _, role := range sessionRoles() {
		r := roles[role]
		if r.Agent = strings.Join(writes, ","); role == nexus.Reviewer || role == nexus.Verifier {
			r.Agent = strings.Join(reads, ",")
		}
		roles[role] = r
	}
	c.Roles = roles
	return c, nil
}

// anyRoleNamesAgent reports whether a role names an agent. An unknown agent is an error, which has
// precedence over those of models.
func anyRoleNamesAgent(c config.Config, env func(string) string) (named bool, err error) {
	for _, role := range slices.Sorted(maps.Keys(c.Roles)) {
		for name := range strings.SplitSeq(c.Roles[role].Agent, ",") {
			if name == "" {
				continue
			}
			named = true
			if strings.Contains(name, "/") { // a model
				continue
			}
			if _, err := FindAgentProgram(c, env, name); err != nil {
				return true, err
			}
		}
	}
	return named, nil
}

// UntrustedAgents returns the agents that a run would use, that could work, and that are not
// trusted yet.
func (a *App) UntrustedAgents(c config.Config) ([]agentcli.CLIAgentProgram, error) {
	set := slices.ContainsFunc(slices.Collect(maps.Values(c.Roles)), func(r config.RoleSettings) bool { return r.Agent != "" })
	_, err := a.ConfigWithAgentsIfNoModel(c, provider.RecordingTransport{})
	e, auto := errors.AsType[*nexus.Error](err)
	if auto = auto && e.Code == nexus.CodeUntrusted; err != nil && !auto {
		return nil, err
	}
	all, err := a.InstalledAgents(c)
	if err != nil {
		return nil, err
	}
	var open []agentcli.CLIAgentProgram
	for _, one := range all {
		if one.Missing != nil || !one.LoggedIn || one.Trusted {
			continue
		}
		if set && len(one.Roles) > 0 || auto && len(open) == 0 {
			open = append(open, one.CLIAgentProgram)
		}
	}
	return open, nil
}

func untrustedError(p agentcli.CLIAgentProgram, state trust.TrustState) error {
	return &nexus.Error{
		Code: nexus.CodeUntrusted, Message: fmt.Sprintf("%s is not yet trusted to work with a copy of your login (%s)", p.Name, state),
		Hint: fmt.Sprintf("Read what it may do with nexus trust agent %s, then trust it with nexus trust agent %s --yes.", p.Name, p.Name),
	}
}

// reviewerModelPickFunc is [worker.AgentSessions.PickReader].
type reviewerModelPickFunc = func(role nexus.Role, tier, least nexus.Tier, author, failed string) (worker.PricedModel, string, error)

// newReviewerModelPickFunc returns a function that picks the model that reads an author's work. The work
// of Claude Code is Anthropic's: for it, a model of Anthropic is not one of another maker.
func newReviewerModelPickFunc(p LocalExecutorOptions, models *provider.ModelPicker) reviewerModelPickFunc {
	return func(role nexus.Role, tier, least nexus.Tier, author, failed string) (worker.PricedModel, string, error) {
		name, model, _ := strings.Cut(author, "/")
		_, provides := p.Config.Providers[name]
		if by, err := FindAgentProgram(p.Config, p.Env, name); err == nil && by.Maker != "" && !provides {
			author = by.Maker + "/" + model
		}
		return models.PickReviewerModel(role, tier, least, author, failed)
	}
}

// externalAgentPickFunc is [worker.AgentSessions.External].
type externalAgentPickFunc = func(role nexus.Role, tier nexus.Tier, pin string) (agents []*worker.ExternalAgent, models []string)

// newExternalAgentPickFunc returns a function that lists the agents for a role at a tier, nil if no role
// has one.
func newExternalAgentPickFunc(p LocalExecutorOptions, models *provider.ModelPicker) (externalAgentPickFunc, error) {
	if err := checkAgentRoles(p.Config.Roles); err != nil {
		return nil, err
	}
	all, err := buildNamedAgents(p, models)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // no role has one
	}
	return func(role nexus.Role, tier nexus.Tier, pin string) (agents []*worker.ExternalAgent, others []string) {
		named, others, err := models.AgentsFor(role, tier, pin)
		if err != nil {
			return nil, nil // it was reported before the run began
		}
		for _, one := range named {
			if h := all[one]; h != nil {
				agents = append(agents, h)
			}
		}
		return agents, others
	}, nil
}

// buildNamedAgents returns the agents that roles, tiers and the plan's tasks name, ready to run.
func buildNamedAgents(p LocalExecutorOptions, models *provider.ModelPicker) (map[provider.RoleAgentProgram]*worker.ExternalAgent, error) {
	all := map[provider.RoleAgentProgram]*worker.ExternalAgent{}
	add := func(role nexus.Role, tier nexus.Tier, pin string) error {
		agents, _, err := models.AgentsFor(role, tier, pin)
		for _, one := range agents {
			if all[one] != nil {
				continue
			}
			h, err := buildExternalAgent(p, one.Name, one.Model, models)
			if err != nil {
				return err
			}
			all[one] = h
		}
		return err
	}
	for _, role := range sessionRoles() {
		for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
			if err := add(role, tier, ""); err != nil {
				return nil, err
			}
		}
	}
	if p.Plan != nil {
		for _, t := range p.Plan.Tasks {
			if err := add(nexus.Coder, t.Tier, t.Model); err != nil {
				return nil, fmt.Errorf("task %s: %w", t.ID, err)
			}
		}
	}
	return all, nil
}

// checkAgentRoles returns an error if an agent is set for a role in which no agent program can
// work.
func checkAgentRoles(roles map[nexus.Role]config.RoleSettings) error {
	for role, r := range roles {
		if r.Agent != "" && !slices.Contains(sessionRoles(), role) {
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("roles.%s.agent has no effect: no agent program does its sessions", role),
				Hint: "Remove it, and set roles." + string(role) + ".model.",
			}
		}
	}
	return nil
}

func buildExternalAgent(p LocalExecutorOptions, name, model string, models *provider.ModelPicker) (*worker.ExternalAgent, error) {
	program, err := FindAgentProgram(p.Config, p.Env, name)
	if err != nil {
		return nil, err
	}
	program.Model = cmp.Or(model, program.Model)
	h := &worker.ExternalAgent{Program: program, Why: "it does the sessions of this role", User: p.Env("HOME"), Money: cmp.Or(p.Config.Agents[name].Budget, defaultAgentBudget)}
	h.Silence = p.Config.Limits.TurnTime // silence means the same of a model and of an agent
	if h.File, h.Seen, err = agentcli.FindProgram(program.Command, p.Env("PATH")); err != nil {
		how := "Install it"
		if program.Install != "" {
			how += ", for example with " + program.Install
		}
		return nil, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "the agent " + name + " is not installed", Cause: err,
			Hint: how + ", or set agents." + name + ".command in your config.toml; nexus agents shows what is there.",
		}
	}
	if p.Trust == nil {
		return nil, &nexus.Error{Code: nexus.CodeUntrusted, Message: "the agent " + name + " is not trusted here", Hint: "Use a model."}
	}
	judged, err := p.Trust.ItemStates(AgentTrustKey, []trust.TrustItem{AgentTrustItem(program)})
	if err != nil {
		return nil, err
	}
	if judged[0].State != trust.StateTrusted {
		return nil, untrustedError(program, judged[0].State)
	}
	if !isLoggedIn(p.Config, program, h.User) {
		return nil, &nexus.Error{
			Code: nexus.CodeAuth, Message: name + " is not logged in: your home has none of " + strings.Join(program.Login, ", "),
			Hint: "Log in with " + cmp.Or(program.Signin, program.Command) + ", or give it a key with agents." + name + ".env.",
		}
	}
	if h.Net, err = agentEgress(p.Config, p.Env, program); err != nil {
		return nil, err
	}
	h.Price = func(model string, u nexus.Usage) (nexus.Money, bool) {
		return agentPrice(models, program.Maker, cmp.Or(model, program.Model), u)
	}
	for _, e := range program.Env { // may hold keys
		if _, value, _ := strings.Cut(e, "="); p.Learn != nil && mayBeKey(value) {
			p.Learn(value)
		}
	}
	return h, nil
}

// agentEgress returns the network access of a program: its hosts; nil if it has none.
func agentEgress(c config.Config, env func(string) string, p agentcli.CLIAgentProgram) (*egress.EgressGrant, error) {
	if len(p.Hosts) == 0 {
		return nil, nil //nolint:nilnil // nobody's grant, which is a value of its own
	}
	return config.NetworkAccessSettings{Mode: "list", Allow: p.Hosts, Deny: c.Network.Deny, Upstream: c.Network.Upstream}.EgressGrant(env)
}

// connectTimeout limits the connection attempts when a program is trusted.
const connectTimeout = 5 * time.Second

// ConnectToAgentHosts connects to the configured hosts of a program, as the program will do through its
// proxy, and returns one line for each host that it cannot reach, with the reason.
func ConnectToAgentHosts(ctx context.Context, c config.Config, env func(string) string, p agentcli.CLIAgentProgram) ([]string, error) {
	if len(c.Agents[p.Name].Hosts) == 0 {
		return nil, nil // those of its maker
	}
	grant, err := agentEgress(c, env, p)
	if err != nil || grant == nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, connectTimeout, errors.New("it took too long"))
	defer stop()
	var lines []string
	for _, d := range grant.NewGateway().TryHosts(ctx) {
		lines = append(lines, fmt.Sprintf("%s is not reached now: %s", d.HostTarget, d.Why))
	}
	return lines, nil
}

// agentPrice returns the price of an agent's tokens. If no model is named it is that of its
// maker's usual strong model, since Codex does not report which one it chose. For a named model
// without a price, or an unknown maker, it is that of the dearest of all makers' strong models.
func agentPrice(models *provider.ModelPicker, maker, model string, u nexus.Usage) (nexus.Money, bool) {
	if model == "" {
		if m, ok := models.CallPrice(provider.StrongestModel(maker), u); ok {
			return m, true
		}
	}
	model = strings.TrimSuffix(model, "-customtools") // of Gemini CLI: the same model at the same price
	for _, maker := range []string{"anthropic", "openai", "gemini"} {
		if m, ok := models.CallPrice(maker+"/"+model, u); ok {
			return m, true
		}
	}
	var most nexus.Money
	priced := false
	for _, maker := range []string{"anthropic", "openai", "gemini"} {
		m, ok := models.CallPrice(provider.StrongestModel(maker), u)
		most, priced = max(most, m), priced || ok
	}
	return most, priced
}

// mayBeKey reports whether the value of a variable that a user set for a program is treated as
// a secret.
func mayBeKey(value string) bool { return len(value) >= minSecret && !isAddress(value) }

// isAddress reports whether a value is an address and contains no secret: masking it would hide
// every text that mentions its host.
func isAddress(value string) bool {
	u, err := url.Parse(value)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		!slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return len(part) >= minSecret })
}
