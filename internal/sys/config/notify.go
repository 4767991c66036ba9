package config

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// The types of notification channels.
const (
	DesktopWay  = "desktop"
	SoundWay    = "sound"
	WebhookWay  = "webhook"
	SlackWay    = "slack"
	DiscordWay  = "discord"
	TelegramWay = "telegram"
	MailWay     = "mail"
)

// Notify configures the notifications for people; see docs/answer-and-share.md.
type Notify struct {
	Terminal string // notification at the terminal of a run: auto, bell, osc9, osc777, osc99 or off
	Link     string // URL of the dashboard in messages; empty: that of nexus serve, or none
	Quiet    string // hours in which only urgent notices are sent
	Zone     string // time zone of these hours and of digests; empty: local
	Through  string // minimum severity that ignores the quiet hours; never: none
	Ways     map[string]NotifyChannel
	Rules    map[string]NoticeRule
}

// NotifyChannel is a notification channel. Its type defines the fields that apply.
type NotifyChannel struct {
	Type   string
	Window time.Duration // time in which notices are collected
	Most   int           // limit of notices in a message
	Digest string        // time of day at which all are sent together

	URL       string // of a webhook
	URLEnv    string // variable with the URL, which is a secret: slack and discord
	SecretEnv string // variable with the secret that signs a webhook
	TokenEnv  string // variable with the token of a bot
	Base      string // address of the Bot API
	Chat      string

	Server      string // host:port for mail
	TLS         string // starttls, implicit, or none
	User        string
	PasswordEnv string
	From        string
	To          []string

	Command []string // command that plays a sound
}

// NoticeRule selects the channels of notices.
type NoticeRule struct {
	Kinds    []string
	Severity string
	Ways     []string
}

// defaultNotify returns the documented defaults: only the terminal of a run.
func defaultNotify() Notify { return Notify{Terminal: "auto", Through: "red"} }

// notifyKeys returns the keys of notifications.
func notifyKeys() []Key {
	const who = "it decides who is notified about your runs"
	text := func(name string, k kind.Kind, doc string, at func(*Notify) *string) Key {
		return singleKey("notify."+name, k, doc, func(c *Config) *string { return at(&c.Notify) }).trusted(who)
	}
	rules := func(c *Config) *map[string]NoticeRule { return &c.Notify.Rules }
	severities := []string{"green", "yellow", "red"}
	return append([]Key{
		text("terminal", kind.Words("auto", "bell", "osc9", "osc777", "osc99", "off"),
			"how the terminal of a run is notified, if it is one: auto takes what the terminal is known to show, "+
				"and the bell otherwise; see docs/answer-and-share.md",
			func(n *Notify) *string { return &n.Terminal }),
		text("link", kind.Address(), "address of your dashboard, to show in messages; without it, nexus serve shows its own",
			func(n *Notify) *string { return &n.Link }),
		text("quiet", kind.Text(), "hours in which only what notify.through names is sent, such as "+
			"`22:00-07:00; 00:00-24:00 Sat,Sun`; the rest follows when they are over",
			func(n *Notify) *string { return &n.Quiet }),
		text("zone", kind.Text(), "time zone of notify.quiet and of digests, such as Europe/Berlin; default: the local one",
			func(n *Notify) *string { return &n.Zone }),
		text("through", kind.Words("green", "yellow", "red", "never"),
			"lowest severity that is sent at once, even in quiet hours and while other notices wait",
			func(n *Notify) *string { return &n.Through }),
		mapFieldKey("notify.rules.*.kinds", kind.Texts(),
			"kinds of events that the rule sends: end, parked, question, plan, review, budget, quota, landed, alert; default: all",
			rules, func(r *NoticeRule) *[]string { return &r.Kinds }).trusted(who),
		mapFieldKey("notify.rules.*.severity", kind.Words(severities...), "lowest severity that the rule sends; default: any",
			rules, func(r *NoticeRule) *string { return &r.Severity }).trusted(who),
		mapFieldKey("notify.rules.*.ways", kind.Texts(), "names of the ways that it sends them; default: all",
			rules, func(r *NoticeRule) *[]string { return &r.Ways }).trusted(who),
	}, notifyChannelKeys(who)...)
}

func notifyChannelKeys(who string) []Key {
	text := func(name string, k kind.Kind, doc string, at func(*NotifyChannel) *string) Key {
		return mapFieldKey("notify.ways.*."+name, k, doc, func(c *Config) *map[string]NotifyChannel { return &c.Notify.Ways }, at).trusted(who)
	}
	texts := func(name, doc string, at func(*NotifyChannel) *[]string) Key {
		return mapFieldKey("notify.ways.*."+name, kind.Texts(), doc, func(c *Config) *map[string]NotifyChannel { return &c.Notify.Ways }, at).trusted(who)
	}
	ways := func(c *Config) *map[string]NotifyChannel { return &c.Notify.Ways }
	return []Key{
		text("type", kind.Words(DesktopWay, SoundWay, WebhookWay, SlackWay, DiscordWay, TelegramWay, MailWay),
			"type of this way to notify people; without any way, only the terminal of a run is notified", func(w *NotifyChannel) *string { return &w.Type }),
		mapFieldKey("notify.ways.*.window", kind.Span(),
			"how long a notice waits for others, to go in the same message; 0s: it is sent at once",
			ways, func(w *NotifyChannel) *time.Duration { return &w.Window }).trusted(who),
		mapFieldKey("notify.ways.*.most", kind.Whole(0, 100), "most notices in one message; 0: 10",
			ways, func(w *NotifyChannel) *int { return &w.Most }).trusted(who),
		text("digest", kind.Text(), "time of the day, such as 18:00, at which all notices that are below notify.through are sent together",
			func(w *NotifyChannel) *string { return &w.Digest }),
		text("url", kind.Address(), "where a way of type webhook sends notices: https, or http on this machine",
			func(w *NotifyChannel) *string { return &w.URL }),
		text("url_env", kind.VarName(), "environment variable with the address of a webhook of Slack or Discord, which is a secret",
			func(w *NotifyChannel) *string { return &w.URLEnv }),
		text("secret_env", kind.VarName(), "environment variable with the secret that signs what a webhook sends, at least 16 bytes",
			func(w *NotifyChannel) *string { return &w.SecretEnv }),
		text("token_env", kind.VarName(), "environment variable with the token of a bot of Telegram",
			func(w *NotifyChannel) *string { return &w.TokenEnv }),
		text("base_url", kind.Address(), "address of your own Bot API server", func(w *NotifyChannel) *string { return &w.Base }),
		text("chat", kind.Text(), "number of the Telegram chat that gets the messages", func(w *NotifyChannel) *string { return &w.Chat }),
		text("server", kind.Text(), "host:port of the server that takes mail, such as smtp.example.com:587",
			func(w *NotifyChannel) *string { return &w.Server }),
		text("tls", kind.Words("starttls", "implicit", "none"),
			"how mail is encrypted: starttls, which is the default, implicit (port 465), or none, on this machine only",
			func(w *NotifyChannel) *string { return &w.TLS }),
		text("user", kind.Text(), "user name for the mail server; default: no login", func(w *NotifyChannel) *string { return &w.User }),
		text("password_env", kind.VarName(), "environment variable with the password for the mail server",
			func(w *NotifyChannel) *string { return &w.PasswordEnv }),
		text("from", kind.Text(), "address that mail comes from", func(w *NotifyChannel) *string { return &w.From }),
		texts("to", "addresses that mail goes to", func(w *NotifyChannel) *[]string { return &w.To }),
		texts("command", "program and arguments that play a sound, outside of the sandbox; no shell reads them",
			func(w *NotifyChannel) *[]string { return &w.Command }),
	}
}
