// Package telegram asks people in a Telegram chat through a bot of their own: buttons for the
// choices of a question, a reply for a free-text answer. It asks only in the configured chat, and
// only the configured users can answer.
package telegram

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/telegramapi"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// OpenQuestionInbox is the source of the open items and accepts their answers.
type OpenQuestionInbox interface {
	Next(ctx context.Context) ([]humaninput.WaitingItem, error)
	Find(run nexus.RunID, id string) (humaninput.WaitingItem, error)
	Answer(ctx context.Context, run nexus.RunID, id, answer, by string) (string, error)
}

// SentQuestionStore remembers the questions that were sent, across restarts of the process.
type SentQuestionStore interface {
	Lookup(name string) (string, bool)
	Names() []string
	Record(name, what string) error
	Forget(name string) error
}

// Options configure the bot and the chat that it writes to.
type Options struct {
	Base     string // address of the Bot API; empty: Telegram's own
	Token    string
	Chat     int64
	Users    []int64 // who may answer; none: the other person in a private chat
	Complain func(error)
	Wait     time.Duration // before a second try; 0: a second. It doubles up to 30 times the value
	Poll     time.Duration // longest that the server may wait for updates; 0: 25 seconds
}

// maxText limits the text of a message, in bytes: Telegram accepts 4096 characters.
const maxText = 3500

// CheckChannel returns an error if the channel cannot be used.
func CheckChannel(o Options) error {
	bad := func(what, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: "channel telegram: " + what, Hint: hint}
	}
	u, err := url.Parse(o.Base)
	switch {
	case o.Token == "":
		return bad("there is no bot token",
			"Set channels.telegram.secret_env to the name of a variable that holds what @BotFather gave you.")
	case !regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`).MatchString(o.Token):
		return bad("the variable does not hold the token of a bot", "It looks like 123456:ABC-DEF, as @BotFather gives it.")
	case o.Chat == 0:
		return bad("there is no chat to ask", "Set channels.telegram.chat to its number.")
	case o.Chat < 0 && len(o.Users) == 0:
		return bad("the chat is a group, so everybody in it could answer",
			"List the users who may answer in channels.telegram.users, by their numbers.")
	case err != nil || o.Base != "" && u.Scheme != "https" && !webhookpost.IsLoopback(u.Hostname()):
		return bad("the token would go to "+o.Base+" without encryption, so others could read it", "Use an https address.")
	}
	return nil
}

// sentQuestion is the stored record of a question: the token in its buttons, and its message ID
// once it was sent.
type sentQuestion struct {
	token   string
	message int64
}

func parseSentQuestion(text string) sentQuestion {
	token, id, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseInt(id, 10, 64) // 0 if it was not sent
	return sentQuestion{token, n}
}

func (n sentQuestion) String() string { return n.token + " " + strconv.FormatInt(n.message, 10) }

// telegramChannel is the running channel.
type telegramChannel struct {
	Options
	inbox OpenQuestionInbox
	api   *telegramapi.Client

	asking chan struct{} // holds one value while a question is being sent

	mu    sync.Mutex // guards the fields below
	book  SentQuestionStore
	items []humaninput.WaitingItem // the open items
	given map[string]string        // by mark: questions that could not be sent and are not tried again
}

// ServeChannel sends questions and receives answers until the context ends, and then finishes within a
// moment.
func ServeChannel(ctx context.Context, inbox OpenQuestionInbox, book SentQuestionStore, o Options) error {
	if err := CheckChannel(o); err != nil {
		return err
	}
	o.Wait, o.Poll = cmp.Or(o.Wait, time.Second), cmp.Or(o.Poll, 25*time.Second)
	c := &telegramChannel{
		Options: o, inbox: inbox, book: book, given: map[string]string{}, asking: make(chan struct{}, 1),
		api: telegramapi.NewClient(o.Base, o.Token, o.Poll+15*time.Second),
	}
	c.items, _ = inbox.Next(ctx) // before any button can be pressed; an error means that ctx has ended
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	defer all.Wait()
	feed := make(chan []humaninput.WaitingItem)
	all.Go(func() { c.forwardOpenItems(ctx, feed) })
	all.Go(func() { c.sendAndCloseQuestions(ctx, feed) })
	err := c.receiveUpdates(ctx)
	stop(nil)
	return err
}

// forwardOpenItems forwards the open items.
func (c *telegramChannel) forwardOpenItems(ctx context.Context, feed chan<- []humaninput.WaitingItem) {
	for {
		items, err := c.inbox.Next(ctx)
		if err != nil {
			return
		}
		select {
		case feed <- items:
		case <-ctx.Done():
			return
		}
	}
}

// sendAndCloseQuestions sends open items, and removes the buttons from items that are no longer open.
func (c *telegramChannel) sendAndCloseQuestions(ctx context.Context, feed <-chan []humaninput.WaitingItem) {
	b := webhookpost.Backoff{Unit: c.Wait}
	for {
		var again <-chan time.Time
		err := c.sendNewQuestions(ctx)
		if err == nil {
			b.N = 0
		} else if ctx.Err() == nil {
			if b.N == 0 {
				c.Complain(fmt.Errorf("channel telegram: %w; trying again", err))
			}
			again = time.After(b.NextWait(telegramapi.RetryDelay(err)))
		}
		select {
		case items := <-feed:
			c.mu.Lock()
			c.items = items
			c.mu.Unlock()
		case <-again:
		case <-ctx.Done():
			c.removeButtons(ctx)
			return
		}
	}
}

// removeButtons removes the buttons from items that are no longer open, once, before the process ends.
// The next process does the rest.
func (c *telegramChannel) removeButtons(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), 3*time.Second, errors.New("time to finish is over"))
	defer cancel()
	c.mu.Lock()
	names := c.book.Names()
	c.mu.Unlock()
	for _, name := range names {
		key, _, _ := strings.Cut(name, "@")
		run, id, _ := strings.Cut(key, "/")
		if _, err := c.inbox.Find(nexus.RunID(run), id); err == nil {
			continue
		}
		if c.closeQuestion(ctx, name) != nil {
			return
		}
	}
}

// sendNewQuestions sends the unsent questions, up to the first failure.
func (c *telegramChannel) sendNewQuestions(ctx context.Context) error {
	c.mu.Lock()
	items, names := slices.Clone(c.items), c.book.Names()
	c.mu.Unlock()
	waits := map[string]bool{}
	for _, i := range items {
		waits[i.UniqueKey()] = true
		if err := c.sendQuestion(ctx, i); err != nil {
			return err
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if waits[name] {
			continue
		}
		if err := c.closeQuestion(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// sendQuestion sends one question, unless it was sent before.
func (c *telegramChannel) sendQuestion(ctx context.Context, i humaninput.WaitingItem) error {
	c.mu.Lock()
	was, known := c.book.Lookup(i.UniqueKey())
	n, over := parseSentQuestion(was), c.given[i.UniqueKey()] != ""
	if !known {
		n = sentQuestion{token: rand.Text()}
		if err := c.book.Record(i.UniqueKey(), n.String()); err != nil {
			c.mu.Unlock()
			return err
		}
	}
	c.mu.Unlock()
	if n.message != 0 || over {
		return nil
	}
	text, buttons := formatQuestion(i, n.token)
	params := map[string]any{"chat_id": c.Chat, "text": text}
	if buttons != nil {
		params["reply_markup"] = buttons
	}
	c.asking <- struct{}{}
	defer func() { <-c.asking }()
	var m telegramapi.BotMessage
	err := c.api.Call(ctx, "sendMessage", params, &m)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case telegramapi.IsFinal(err):
		c.given[i.UniqueKey()] = err.Error()
		c.Complain(fmt.Errorf("channel telegram: question %s is not sent: %w", i.ID, err))
		return nil
	case err != nil:
		return err
	}
	n.message = m.ID
	return c.book.Record(i.UniqueKey(), n.String())
}

// formatQuestion formats a question. A question that does not fit is not shown in part, because a
// person must have read all of a text that they agree to.
func formatQuestion(i humaninput.WaitingItem, token string) (string, *telegramapi.ButtonKeyboard) {
	text := fmt.Sprintf("%s (%s), run %s, %s:\n\n%s\n\nWithout an answer", i.Trigger, i.Severity, i.Run, i.ID, i.Text)
	if !i.Deadline.IsZero() {
		text += " until " + i.Deadline.UTC().Format("15:04 MST on 2006-01-02")
	}
	text += ": " + i.Fallback
	if len(text) > maxText {
		return fmt.Sprintf("%s (%s), run %s, %s: a question that is too long for a message. nexus status has it, nexus answer answers it.", i.Trigger, i.Severity, i.Run, i.ID), nil
	}
	var rows [][]telegramapi.MessageButton
	row := func(width int, all []humaninput.AnswerChoice) {
		for n, o := range all {
			if n%width == 0 {
				rows = append(rows, nil)
			}
			label := o.Label
			if o.Default {
				label += " (default)"
			}
			last := len(rows) - 1
			rows[last] = append(rows[last], telegramapi.MessageButton{Text: shortenLabel(label), Data: token + ":" + o.Answer})
		}
	}
	offers := buttonOffers(i)
	commands := slices.IndexFunc(offers, func(o humaninput.AnswerChoice) bool { return len(i.Choices) > 0 || o.Label == o.Answer })
	if commands < 0 {
		return text + "\n\nReply to this message with the answer.", nil
	}
	row(1, offers[:commands]) // they may be long
	row(4, offers[commands:])
	if len(i.Choices) == 0 {
		text += "\n\nPress a button, or reply to this message in your own words."
	}
	return text, &telegramapi.ButtonKeyboard{Rows: rows}
}

// buttonOffers returns the answers that get a button.
func buttonOffers(i humaninput.WaitingItem) []humaninput.AnswerChoice {
	if len(i.Choices) == 0 {
		return i.Offers
	}
	var all []humaninput.AnswerChoice
	for _, c := range i.Choices {
		all = append(all, humaninput.AnswerChoice{Label: c, Answer: c})
	}
	return all
}

// closeQuestion writes the result below a question, and forgets the question.
func (c *telegramChannel) closeQuestion(ctx context.Context, mark string) error {
	c.mu.Lock()
	was, _ := c.book.Lookup(mark)
	c.mu.Unlock()
	key, _, _ := strings.Cut(mark, "@")
	run, id, _ := strings.Cut(key, "/")
	_, why := c.inbox.Find(nexus.RunID(run), id)
	if n := parseSentQuestion(was); n.message != 0 {
		text := id + " of run " + run + ": an answer is no longer needed"
		if why != nil {
			text = id + " of run " + run + ": " + why.Error()
		}
		err := c.api.Call(ctx, "editMessageText", map[string]any{"chat_id": c.Chat, "message_id": n.message, "text": truncateText(text)}, nil)
		if err != nil && !telegramapi.IsFinal(err) {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.given, mark)
	return c.book.Forget(mark)
}

func truncateText(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}

// receiveUpdates receives people's messages until the context ends. It returns an error only if
// another try cannot fix it.
func (c *telegramChannel) receiveUpdates(ctx context.Context) error {
	b := webhookpost.Backoff{Unit: c.Wait}
	var offset int64
	for ctx.Err() == nil {
		all, err := c.pollUpdates(ctx, offset)
		if telegramapi.IsFinal(err) && ctx.Err() == nil {
			return fmt.Errorf("channel telegram: %w", err)
		}
		if err != nil {
			if b.N == 0 && ctx.Err() == nil {
				c.Complain(fmt.Errorf("channel telegram: %w; trying again", err))
			}
			select {
			case <-time.After(b.NextWait(telegramapi.RetryDelay(err))):
			case <-ctx.Done():
			}
			continue
		}
		b.N = 0
		for _, u := range all {
			c.handleUpdate(ctx, u)
			offset = max(offset, u.ID+1) // the next call confirms it, after it was handled
		}
	}
	return nil
}

// pollUpdates waits for updates.
func (c *telegramChannel) pollUpdates(ctx context.Context, offset int64) (all []telegramapi.BotUpdate, err error) {
	err = c.api.Call(ctx, "getUpdates", map[string]any{
		"offset": offset, "timeout": int(c.Poll.Seconds()), "allowed_updates": []string{"message", "callback_query"},
	}, &all)
	return all, err
}

// handleUpdate handles one update. People who may not answer get no reply.
func (c *telegramChannel) handleUpdate(ctx context.Context, u telegramapi.BotUpdate) {
	switch {
	case u.Press != nil:
		p := u.Press
		if p.Message == nil || !c.canAnswer(p.Message.Chat.ID, p.From) {
			return
		}
		said, err := c.submitAnswer(ctx, c.pressedAnswer(p.Data), p.From)
		c.sendReply(ctx, "answerCallbackQuery", map[string]any{"callback_query_id": p.ID, "text": shortenLabel(replyText(said, err))})
	case u.Message != nil:
		m := u.Message
		if m.From == nil || !c.canAnswer(m.Chat.ID, *m.From) || m.ReplyTo == nil || m.Text == "" {
			return
		}
		said, err := c.submitAnswer(ctx, c.repliedAnswer(ctx, m), *m.From)
		c.sendReply(ctx, "sendMessage", map[string]any{
			"chat_id": c.Chat, "text": truncateText(replyText(said, err)),
			"reply_parameters": map[string]any{"message_id": m.ID, "allow_sending_without_reply": true},
		})
	}
}

// canAnswer reports whether a user may answer in a chat.
func (c *telegramChannel) canAnswer(in int64, from telegramapi.BotUser) bool {
	if in != c.Chat {
		return false
	}
	if len(c.Users) == 0 {
		return c.Chat > 0 && from.ID == c.Chat
	}
	return slices.Contains(c.Users, from.ID)
}

// receivedAnswer is a question and the answer to it.
type receivedAnswer struct {
	item   humaninput.WaitingItem
	answer string
	known  bool
}

// findQuestion returns the question whose record matches.
func (c *telegramChannel) findQuestion(fits func(sentQuestion) bool) (humaninput.WaitingItem, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.items {
		if was, ok := c.book.Lookup(i.UniqueKey()); ok && fits(parseSentQuestion(was)) {
			return i, true
		}
	}
	return humaninput.WaitingItem{}, false
}

func (c *telegramChannel) pressedAnswer(data string) receivedAnswer {
	token, choice, _ := strings.Cut(data, ":")
	i, ok := c.findQuestion(func(n sentQuestion) bool { return n.token == token && token != "" })
	if !ok || !slices.ContainsFunc(buttonOffers(i), func(o humaninput.AnswerChoice) bool { return o.Answer == choice }) {
		return receivedAnswer{}
	}
	return receivedAnswer{i, choice, true}
}

// repliedAnswer returns the question that a message replies to. A person may reply to a question
// before the server has returned the ID of its message.
func (c *telegramChannel) repliedAnswer(ctx context.Context, m *telegramapi.BotMessage) receivedAnswer {
	fits := func(n sentQuestion) bool { return n.message != 0 && n.message == m.ReplyTo.ID }
	i, ok := c.findQuestion(fits)
	if ok {
		return receivedAnswer{i, m.Text, true}
	}
	select {
	case c.asking <- struct{}{}:
		<-c.asking
	case <-ctx.Done():
	}
	i, ok = c.findQuestion(fits)
	return receivedAnswer{i, m.Text, ok}
}

func (c *telegramChannel) submitAnswer(ctx context.Context, m receivedAnswer, from telegramapi.BotUser) (string, error) {
	if !m.known {
		return "", errors.New("this no longer waits for an answer")
	}
	if text, _ := formatQuestion(m.item, ""); !strings.Contains(text, m.item.Text) {
		return "", errors.New("the question was too long to be shown here: answer it with nexus answer")
	}
	by := "telegram:" + strconv.FormatInt(from.ID, 10)
	if regexp.MustCompile(`^[A-Za-z0-9_]{1,32}$`).MatchString(from.Username) {
		by += "/" + from.Username
	}
	return c.inbox.Answer(ctx, m.item.Run, m.item.ID, m.answer, by)
}

func replyText(said string, err error) string {
	if err == nil {
		return said
	}
	if e, ok := errors.AsType[*nexus.Error](err); ok && e.Hint != "" {
		return e.Message + ". " + e.Hint
	}
	return err.Error()
}

// shortenLabel shortens a text to the length that a button allows.
func shortenLabel(text string) string {
	if r := []rune(text); len(r) > 190 {
		return string(r[:190]) + "..."
	}
	return text
}

// sendReply sends a message back to the person. It is tried once, because the journal is the record.
func (c *telegramChannel) sendReply(ctx context.Context, method string, params map[string]any) {
	if err := c.api.Call(ctx, method, params, nil); err != nil && ctx.Err() == nil && !telegramapi.IsFinal(err) {
		c.Complain(fmt.Errorf("channel telegram: %w", err))
	}
}
