package config

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// The names of the channels.
const (
	FileChannel     = "file"
	WebChannel      = "web"
	WebhookChannel  = "webhook"
	TelegramChannel = "telegram"
)

// QuestionChannelSettings configure how people are asked.
type QuestionChannelSettings struct {
	Order []string      // channels in the order in which they are asked; empty: no channel
	Wait  time.Duration // time before the next channel is asked, too
	Dir   string        // directory of question files; empty: in the state of the repository

	WebListen    string // address:port of the page
	WebSecretEnv string // variable with the token of the page; empty: a random token

	WebhookURL       string // URL that receives the questions
	WebhookSecretEnv string // variable with the secret for signatures of both sides
	WebhookListen    string // address:port that receives answers
	WebhookAnswers   string // answer URL given to the receiver; empty: the listen address

	TelegramSecretEnv string   // variable with the token of the bot
	TelegramChat      string   // number of the chat
	TelegramUsers     []string // user numbers that may answer; empty: the person of the chat
	TelegramURL       string   // address of the Bot API; empty: Telegram's own
}

// defaultChannels returns the documented defaults: no channel.
func defaultChannels() QuestionChannelSettings {
	return QuestionChannelSettings{WebListen: "127.0.0.1:0", WebhookListen: "127.0.0.1:8765"}
}

// channelKeys returns the keys of the channels that reach people away from the terminal.
func channelKeys() []SettingKey {
	const who = "it decides who reads your questions and answers for you"
	text := func(name string, k valuekind.Kind, doc string, at func(*QuestionChannelSettings) *string) SettingKey {
		return newSingleKey("channels."+name, k, doc, func(c *Config) *string { return at(&c.Channels) }).withProjectDenied(who)
	}
	return []SettingKey{
		newSingleKey("channels.order", valuekind.NameListKind(FileChannel, WebChannel, WebhookChannel, TelegramChannel), "channels that receive questions for a person, besides the terminal, in this order; see docs/answer-and-share.md", func(c *Config) *[]string { return &c.Channels.Order }).withProjectDenied(who),
		newSingleKey("channels.wait", valuekind.DurationKind(), "how long to wait for an answer before the next channel is asked too", func(c *Config) *time.Duration { return &c.Channels.Wait }).withProjectDenied(who),
		text("file.dir", valuekind.TextLineKind(), "directory of the channel file; default: in the state directory of the repository", func(s *QuestionChannelSettings) *string { return &s.Dir }),
		familyKey("channels.*.listen", "address:port where a channel gets answers",
			text("web.listen", valuekind.TextLineKind(), "the page; port 0 takes a free one", func(s *QuestionChannelSettings) *string { return &s.WebListen }),
			text("webhook.listen", valuekind.TextLineKind(), "one that other machines can reach needs channels.webhook.answers", func(s *QuestionChannelSettings) *string { return &s.WebhookListen })),
		familyKey("channels.*.url", "address of a channel",
			text("webhook.url", valuekind.WebAddressKind(), "where questions are sent: https, or http on this machine", func(s *QuestionChannelSettings) *string { return &s.WebhookURL }),
			text("telegram.url", valuekind.WebAddressKind(), "your own Bot API server", func(s *QuestionChannelSettings) *string { return &s.TelegramURL })),
		familyKey("channels.*.secret_env", "environment variable with the secret of a channel",
			text("web.secret_env", valuekind.VariableNameKind(), "the token of the page; default: a random token, which is printed", func(s *QuestionChannelSettings) *string { return &s.WebSecretEnv }),
			text("webhook.secret_env", valuekind.VariableNameKind(), "what signs questions and answers, at least 16 bytes", func(s *QuestionChannelSettings) *string { return &s.WebhookSecretEnv }),
			text("telegram.secret_env", valuekind.VariableNameKind(), "the token of the bot", func(s *QuestionChannelSettings) *string { return &s.TelegramSecretEnv })),
		text("telegram.chat", valuekind.PatternTextKind("number of a chat", `^-?[0-9]{1,18}$`, "must be the number of a chat"), "chat that receives questions", func(s *QuestionChannelSettings) *string { return &s.TelegramChat }),
		newSingleKey("channels.telegram.users", valuekind.TextListKind(), "numbers of the users who may answer; default: the other person of a private chat", func(c *Config) *[]string { return &c.Channels.TelegramUsers }).withProjectDenied(who),
		text("webhook.answers", valuekind.WebAddressKind(), "address that the receiver answers to, if channels.webhook.listen is behind a proxy or reached from other machines", func(s *QuestionChannelSettings) *string { return &s.WebhookAnswers }),
	}
}
