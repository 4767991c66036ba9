package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acptest"
)

// acpClient is the program acpclient of stories: it starts nexus acp, and does the
// steps that [acptest.Client.RunSteps] describes. What the agent says on its standard
// error is in $WORK/acp.err.
func acpClient() {
	c := &acptest.Client{Out: os.Stdout}
	c.Run = func(command string) { _ = exec.Command("sh", "-c", command).Run() } // it may have been done
	flag.BoolVar(&c.Forms, "forms", false, "it can show forms")
	flag.StringVar(&c.Name, "name", "acpclient", "its `NAME`")
	flag.Func("answer", "`TITLE=ANSWER` to what is asked", func(text string) error { c.Answers = append(c.Answers, text); return nil })
	pid := flag.String("pid", "", "`FILE` for the agent's process")
	flag.Parse()
	if err := acpAgent(c, *pid, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "acpclient:", err)
		os.Exit(1)
	}
}

// acpAgent talks to an agent that it starts, and waits for its end.
func acpAgent(c *acptest.Client, pid string, steps []string) error {
	agent := exec.Command("nexus", "acp")
	said, err := os.OpenFile(filepath.Join(os.Getenv("WORK"), "acp.err"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	agent.Stderr = said
	to, err := agent.StdinPipe()
	from, err2 := agent.StdoutPipe()
	if err := errors.Join(err, err2, agent.Start()); err != nil {
		return err
	}
	if pid != "" {
		if err := os.WriteFile(pid, []byte(strconv.Itoa(agent.Process.Pid)+"\n"), 0o600); err != nil {
			return err
		}
	}
	c.Close = to.Close
	if err := c.Connect(context.Background(), from, to); err != nil {
		return err
	}
	c.RunSteps(context.Background(), steps)
	_ = to.Close() // the agent may be dead
	return agent.Wait()
}
