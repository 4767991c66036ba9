// Package questionchannelsetup asks people who are not at the terminal: it opens the channels in the
// configuration, and gives each its secrets.
package questionchannelsetup

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/file"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/telegram"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/webhook"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/sentmessages"
)

// again is the time to wait after a channel failed.
const again = 10 * time.Second

// Channels are the configured channels of one repository.
type Channels struct {
	App   *app.App
	Place *app.Repository
	Set   config.QuestionChannelSettings
	Say   func(format string, args ...any)

	Deliver func(context.Context, nexus.RunID) error            // publishes agreed changes while the run is not in progress
	Show    func(context.Context) (web.ServedRepository, error) // content of the web pages; nil: no channel web
}

// questionDir returns the directory of the channel file.
func questionDir(state string, c config.QuestionChannelSettings) string {
	return cmp.Or(c.Dir, filepath.Join(state, "questions"))
}

// Check returns an error if the channels cannot be used, before anything begins. State is the
// directory of the repository's state; empty if there is none.
func Check(a *app.App, state string, c config.QuestionChannelSettings) error {
	var all []error
	for _, name := range c.Order {
		switch name {
		case config.FileChannel:
			if c.Dir != "" && !filepath.IsAbs(c.Dir) {
				all = append(all, &nexus.Error{
					Code: nexus.CodeInvalidConfig, Message: "channels.file.dir is not an absolute path: " + c.Dir,
					Hint: "Use an absolute path, so that it does not depend on where nexus is started.",
				})
			} else if state != "" || c.Dir != "" {
				all = append(all, file.CheckDirectory(questionDir(state, c)))
			}
		case config.WebChannel:
			_, err := WebOptions(a, c)
			all = append(all, err)
		case config.WebhookChannel:
			_, err := webhookOptions(a, c)
			all = append(all, err)
		case config.TelegramChannel:
			_, err := telegramOptions(a, c)
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// WebOptions returns the options of the web page, also together with an error about them.
func WebOptions(a *app.App, c config.QuestionChannelSettings) (web.Options, error) {
	token, err := readSecret(a, "channels.web.secret_env", c.WebSecretEnv)
	if err != nil {
		return web.Options{}, err
	}
	o := web.Options{Listen: c.WebListen, Token: token, Now: a.Now}
	return o, web.CheckOptions(o)
}

// webhookOptions returns the options of the webhook.
func webhookOptions(a *app.App, c config.QuestionChannelSettings) (webhook.Options, error) {
	key, err := readSecret(a, "channels.webhook.secret_env", c.WebhookSecretEnv)
	if err != nil {
		return webhook.Options{}, err
	}
	o := webhook.Options{URL: c.WebhookURL, Secret: key, Listen: c.WebhookListen, Answers: c.WebhookAnswers, Now: a.Now}
	return o, webhook.CheckChannel(o)
}

// telegramOptions returns the options of the chat.
func telegramOptions(a *app.App, c config.QuestionChannelSettings) (telegram.Options, error) {
	token, err := readSecret(a, "channels.telegram.secret_env", c.TelegramSecretEnv)
	if err != nil {
		return telegram.Options{}, err
	}
	o := telegram.Options{Base: c.TelegramURL, Token: token}
	o.Chat, _ = strconv.ParseInt(c.TelegramChat, 10, 64) // 0, which is refused, if it is not a number
	for _, text := range c.TelegramUsers {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return o, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "channels.telegram.users: " + text + " is not a user's number",
				Hint: "Use the number, because names can change hands. @userinfobot shows it.",
			}
		}
		o.Users = append(o.Users, id)
	}
	return o, telegram.CheckChannel(o)
}

// readSecret returns the value of a variable, and masks it in all output from then on.
func readSecret(a *app.App, setting, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	value := strings.TrimSpace(a.Env(name))
	if value == "" {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: setting + " names " + name + ", which is not set",
			Hint: "Set it to a long random text, such as the output of openssl rand -hex 32.",
		}
	}
	a.Mask.AddSecret(value)
	return value, nil
}

// OpenInbox returns an inbox with the open items of the repository.
func (c Channels) OpenInbox(ctx context.Context) (*questionchannel.JournalInbox, error) {
	held := func(ctx context.Context, run nexus.RunID) bool {
		all, err := c.Place.Journal.Runs(ctx)
		i := slices.IndexFunc(all, func(r journal.RecordedRun) bool { return r.ID == run })
		return err == nil && i >= 0 && all[i].Holder != nil
	}
	return questionchannel.OpenInbox(ctx, c.Place.Journal, held, c.App.Now)
}

// Ask asks people through the channels in their order until the context ends. It reports a
// channel's error and continues.
func (c Channels) Ask(ctx context.Context) {
	if len(c.Set.Order) == 0 {
		return
	}
	inbox, err := c.OpenInbox(ctx)
	if err != nil {
		c.reportError(ctx, err)
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { c.reportError(ctx, inbox.Follow(ctx)) })
	all.Go(func() { c.DeliverApproved(ctx, inbox) })
	for n, name := range c.Set.Order {
		seat := inbox.Subscribe(time.Duration(n) * c.Set.Wait)
		all.Go(func() { c.keepOpen(ctx, name, inbox, seat) })
	}
}

// DeliverApproved publishes the agreed changes of runs that have no conductor, until the context ends.
func (c Channels) DeliverApproved(ctx context.Context, inbox *questionchannel.JournalInbox) {
	if c.Deliver == nil {
		return
	}
	inbox.FollowPublishApprovals(ctx, func(ctx context.Context, run nexus.RunID) { c.reportError(ctx, c.Deliver(ctx, run)) })
}

// keepOpen keeps a channel open. A channel that two processes would disturb is open in one process at
// a time.
func (c Channels) keepOpen(ctx context.Context, name string, inbox *questionchannel.JournalInbox, seat *questionchannel.InboxSubscription) {
	serve := func(ctx context.Context) error { return c.serve(ctx, name, inbox, seat) }
	if name != config.WebChannel {
		alone := serve
		serve = func(ctx context.Context) error {
			return sentmessages.RunExclusive(ctx, filepath.Join(c.Place.State, "channels", name+".lock"), alone)
		}
	}
	last := ""
	for ctx.Err() == nil {
		err := serve(ctx)
		if err != nil && err.Error() != last {
			c.reportError(ctx, err)
			last = err.Error()
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

func (c Channels) serve(ctx context.Context, name string, inbox *questionchannel.JournalInbox, seat *questionchannel.InboxSubscription) error {
	complain := func(err error) { c.reportError(ctx, err) }
	switch name {
	case config.FileChannel:
		return file.ServeDirectory(ctx, seat, file.Options{Dir: questionDir(c.Place.State, c.Set), Complain: complain})
	case config.WebhookChannel:
		o, err := webhookOptions(c.App, c.Set)
		if err != nil {
			return err
		}
		book, err := sentmessages.OpenSentLog(filepath.Join(c.Place.State, "channels", name+".json"))
		if err != nil {
			return err
		}
		o.Complain, o.Say = complain, c.Say
		return webhook.ServeChannel(ctx, seat, book, o)
	case config.TelegramChannel:
		o, err := telegramOptions(c.App, c.Set)
		if err != nil {
			return err
		}
		book, err := sentmessages.OpenSentLog(filepath.Join(c.Place.State, "channels", name+".json"))
		if err != nil {
			return err
		}
		o.Complain = complain
		return telegram.ServeChannel(ctx, seat, book, o)
	default:
		o, err := WebOptions(c.App, c.Set)
		if err != nil {
			return err
		}
		if o.ServedRepository, err = c.Show(ctx); err != nil {
			return err
		}
		s, err := web.Listen(ctx, inbox, o)
		if err != nil {
			return err
		}
		c.Say("answer questions at %s", AnswerPageAddress(s, c.Set))
		return s.Serve(ctx)
	}
}

// AnswerPageAddress returns the address of the page. It omits a token that the user chose.
func AnswerPageAddress(s *web.Server, c config.QuestionChannelSettings) string {
	if c.WebSecretEnv != "" {
		return s.Address() + "/?token=... (see " + c.WebSecretEnv + ")"
	}
	return s.URL()
}

func (c Channels) reportError(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		c.Say("%s", err)
	}
}
