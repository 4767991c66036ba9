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

	WebListen   string // address:port of the page
	WebTokenEnv string // variable with the token of the page; empty: a random token

	WebhookURL       string // URL that receives the questions
	WebhookSecretEnv string // variable with the secret for signatures of both sides
	WebhookListen    string // address:port that receives answers
	WebhookAnswers   string // answer URL given to the receiver; empty: the listen address

	Auto      []string      // triggers of the questions that a model answers if no person does
	AutoAfter time.Duration // time that people have before that

	TelegramTokenEnv string   // variable with the token of the bot
	TelegramChat     string   // number of the chat
	TelegramUsers    []string // user numbers that may answer; empty: the person of the chat
	TelegramBase     string   // address of the Bot API; empty: Telegram's own
}

// defaultChannels returns the documented defaults: no channel.
func defaultChannels() QuestionChannelSettings {
	return QuestionChannelSettings{WebListen: "127.0.0.1:0", WebhookListen: "127.0.0.1:8765", AutoAfter: time.Minute}
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
		newSingleKey("channels.auto.answers", valuekind.NameListKind("ambiguity"), "kinds of question that a model of tier fast may answer if no person does: it must be 70 % sure, and each answer costs at most one cent, all of a run together 20; it never allows a command and never publishes", func(c *Config) *[]string { return &c.Channels.Auto }).withProjectDenied(who),
		newSingleKey("channels.auto.after", valuekind.DurationKind(), "how long people have to answer before the model does", func(c *Config) *time.Duration { return &c.Channels.AutoAfter }).withProjectDenied(who),
		text("file.dir", valuekind.TextLineKind(), "directory of the channel file; default: in the state directory of the repository", func(s *QuestionChannelSettings) *string { return &s.Dir }),
		text("web.listen", valuekind.TextLineKind(), "address:port of the page; port 0 takes a free one", func(s *QuestionChannelSettings) *string { return &s.WebListen }),
		text("web.token_env", valuekind.VariableNameKind(), "environment variable with the token of the page; default: a random token, which is printed", func(s *QuestionChannelSettings) *string { return &s.WebTokenEnv }),
		text("webhook.url", valuekind.WebAddressKind(), "where the channel webhook sends questions: https, or http on this machine", func(s *QuestionChannelSettings) *string { return &s.WebhookURL }),
		text("webhook.secret_env", valuekind.VariableNameKind(), "environment variable with the secret that signs questions and answers, at least 16 bytes", func(s *QuestionChannelSettings) *string { return &s.WebhookSecretEnv }),
		text("webhook.listen", valuekind.TextLineKind(), "address:port that receives answers; one that other machines can reach needs channels.webhook.answers", func(s *QuestionChannelSettings) *string { return &s.WebhookListen }),
		text("telegram.token_env", valuekind.VariableNameKind(), "environment variable with the token of the bot", func(s *QuestionChannelSettings) *string { return &s.TelegramTokenEnv }),
		text("telegram.chat", valuekind.PatternTextKind("number of a chat", `^-?[0-9]{1,18}$`, "must be the number of a chat"), "chat that receives questions", func(s *QuestionChannelSettings) *string { return &s.TelegramChat }),
		newSingleKey("channels.telegram.users", valuekind.TextListKind(), "numbers of the users who may answer; default: the other person of a private chat", func(c *Config) *[]string { return &c.Channels.TelegramUsers }).withProjectDenied(who),
		text("telegram.base_url", valuekind.WebAddressKind(), "address of your own Bot API server", func(s *QuestionChannelSettings) *string { return &s.TelegramBase }),
		text("webhook.answers", valuekind.WebAddressKind(), "address that the receiver answers to, if channels.webhook.listen is behind a proxy or reached from other machines", func(s *QuestionChannelSettings) *string { return &s.WebhookAnswers }),
	}
}
