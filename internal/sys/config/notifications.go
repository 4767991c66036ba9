package config

import "github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"

// The types of notification channels.
const (
	NotifyDesktop  = "desktop"
	NotifySound    = "sound"
	NotifyWebhook  = "webhook"
	NotifySlack    = "slack"
	NotifyDiscord  = "discord"
	NotifyTelegram = "telegram"
	NotifyMail     = "mail"
)

// NotificationSettings configures the notifications for people; see docs/answer-and-share.md.
type NotificationSettings struct {
	Terminal string // notification at the terminal of a run: auto, bell, osc9, osc777, osc99 or off
	Link     string // URL of the dashboard in messages; empty: that of nexus serve, or none
	Quiet    string // hours in which only urgent notices are sent
	Through  string // minimum severity that ignores the quiet hours; never: none
	Channels map[string]NotificationChannelSettings
	Rules    map[string]NoticeRoutingRule
}

// NotificationChannelSettings is a notification channel. Its type defines the fields that apply.
type NotificationChannelSettings struct {
	Type   string
	Digest string // how long notices are collected, or the time of day at which all are sent together

	URL       string   // of a webhook, or of the user's own Bot API server
	SecretEnv string   // variable with the secret of this type: a key, an address, a token or a password
	To        []string // addresses for mail, or the number of a chat

	Server string // host:port for mail
	User   string
	From   string

	Command []string // command that plays a sound
}

// NoticeRoutingRule selects the channels of notices.
type NoticeRoutingRule struct {
	Kinds    []string
	Severity string
	Ways     []string
}

// defaultNotify returns the documented defaults: only the terminal of a run.
func defaultNotify() NotificationSettings {
	return NotificationSettings{Terminal: "auto", Through: "red"}
}

// notifyKeys returns the keys of notifications.
func notifyKeys() []SettingKey {
	const who = "it decides who is notified about your runs"
	text := func(name string, k valuekind.Kind, doc string, at func(*NotificationSettings) *string) SettingKey {
		return newSingleKey("notify."+name, k, doc, func(c *Config) *string { return at(&c.Notify) }).withProjectDenied(who)
	}
	rules := func(c *Config) *map[string]NoticeRoutingRule { return &c.Notify.Rules }
	severities := []string{"green", "yellow", "red"}
	return append([]SettingKey{
		text("terminal", valuekind.OneOfKind("auto", "bell", "osc9", "osc777", "osc99", "off"),
			"how the terminal of a run is notified, if it is one: auto takes what the terminal is known to show, "+
				"and the bell otherwise; see docs/answer-and-share.md",
			func(n *NotificationSettings) *string { return &n.Terminal }),
		text("link", valuekind.WebAddressKind(), "address of your dashboard, to show in messages; without it, nexus serve shows its own",
			func(n *NotificationSettings) *string { return &n.Link }),
		text("quiet", valuekind.TextLineKind(), "hours in the local time zone in which only what notify.through names is sent, such as "+
			"`22:00-07:00; 00:00-24:00 Sat,Sun`; the rest follows when they are over",
			func(n *NotificationSettings) *string { return &n.Quiet }),
		text("through", valuekind.OneOfKind("green", "yellow", "red", "never"),
			"lowest severity that is sent at once, even in quiet hours and while other notices wait",
			func(n *NotificationSettings) *string { return &n.Through }),
		newMapFieldKey("notify.rules.*.kinds", valuekind.TextListKind(),
			"kinds of events that the rule sends: end, parked, question, plan, review, budget, quota, landed, alert; default: all",
			rules, func(r *NoticeRoutingRule) *[]string { return &r.Kinds }).withProjectDenied(who),
		newMapFieldKey("notify.rules.*.severity", valuekind.OneOfKind(severities...), "lowest severity that the rule sends; default: any",
			rules, func(r *NoticeRoutingRule) *string { return &r.Severity }).withProjectDenied(who),
		newMapFieldKey("notify.rules.*.ways", valuekind.TextListKind(), "names of the ways that it sends them; default: all",
			rules, func(r *NoticeRoutingRule) *[]string { return &r.Ways }).withProjectDenied(who),
	}, notifyChannelKeys(who)...)
}

func notifyChannelKeys(who string) []SettingKey {
	text := func(name string, k valuekind.Kind, doc string, at func(*NotificationChannelSettings) *string) SettingKey {
		return newMapFieldKey("notify.ways.*."+name, k, doc, func(c *Config) *map[string]NotificationChannelSettings { return &c.Notify.Channels }, at).withProjectDenied(who)
	}
	texts := func(name, doc string, at func(*NotificationChannelSettings) *[]string) SettingKey {
		return newMapFieldKey("notify.ways.*."+name, valuekind.TextListKind(), doc, func(c *Config) *map[string]NotificationChannelSettings { return &c.Notify.Channels }, at).withProjectDenied(who)
	}
	return []SettingKey{
		text("type", valuekind.OneOfKind(NotifyDesktop, NotifySound, NotifyWebhook, NotifySlack, NotifyDiscord, NotifyTelegram, NotifyMail),
			"type of this way to notify people; without any way, only the terminal of a run is notified", func(w *NotificationChannelSettings) *string { return &w.Type }),
		text("digest", valuekind.TextLineKind(), "how long a notice waits for others, to go in the same message, such as 5m; or the time of the day, such as 18:00, at which all notices that are below notify.through are sent together; if not set, each is sent at once",
			func(w *NotificationChannelSettings) *string { return &w.Digest }),
		text("url", valuekind.WebAddressKind(), "where a way of type webhook sends notices: https, or http on this machine; for telegram, the address of your own Bot API server",
			func(w *NotificationChannelSettings) *string { return &w.URL }),
		text("secret_env", valuekind.VariableNameKind(), "environment variable with the secret of this way: of a webhook, what signs its messages, at least 16 bytes; of slack and discord, the address of their webhook; of telegram, the token of the bot; of mail, the password for the server",
			func(w *NotificationChannelSettings) *string { return &w.SecretEnv }),
		text("server", valuekind.TextLineKind(), "host:port of the server that takes mail, such as smtp.example.com:587; mail is encrypted, except to a server of this machine that cannot: from the start at port 465, by STARTTLS otherwise",
			func(w *NotificationChannelSettings) *string { return &w.Server }),
		text("user", valuekind.TextLineKind(), "user name for the mail server; default: no login", func(w *NotificationChannelSettings) *string { return &w.User }),
		text("from", valuekind.TextLineKind(), "address that mail comes from", func(w *NotificationChannelSettings) *string { return &w.From }),
		texts("to", "who gets the messages: addresses of mail, or the number of one Telegram chat", func(w *NotificationChannelSettings) *[]string { return &w.To }),
		texts("command", "program and arguments that play a sound, outside of the sandbox; no shell reads them",
			func(w *NotificationChannelSettings) *[]string { return &w.Command }),
	}
}
