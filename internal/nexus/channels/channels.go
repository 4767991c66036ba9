// Package channels holds the words for how people are asked who do not sit at
// the terminal.
package channels

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The channels.
const (
	File     = "file"
	Web      = "web"
	Webhook  = "webhook"
	Telegram = "telegram"
)

// Settings say how people are asked.
type Settings struct {
	Order []string      // who is asked, one after the other; none: nobody
	Wait  time.Duration // how long each has a question before the next is asked, too
	Dir   string        // of files; empty: in the state of the repository

	WebListen   string // address:port of the page
	WebTokenEnv string // variable with the token of the page; empty: one is drawn

	WebhookURL       string // where questions are sent
	WebhookSecretEnv string // variable with the secret that both sides sign with
	WebhookListen    string // address:port where answers come in
	WebhookPublic    bool   // that may be reached from other machines
	WebhookAnswers   string // address that the receiver is told to answer to; empty: the one listened at

	Auto      []string      // triggers of questions that a model answers where nobody does
	AutoAfter time.Duration // that people have before
	AutoMoney nexus.Money   // for all its calls of a run

	TelegramTokenEnv string   // variable with the token of the bot
	TelegramChat     string   // number of the chat that is asked
	TelegramUsers    []string // numbers of those who may answer; none: who the chat is with
	TelegramBase     string   // address of the Bot API; empty: Telegram's own
}

// Default returns the documented defaults: nobody is asked.
func Default() Settings {
	return Settings{WebListen: "127.0.0.1:0", WebhookListen: "127.0.0.1:8765", AutoAfter: time.Minute, AutoMoney: nexus.Dollar / 5}
}
