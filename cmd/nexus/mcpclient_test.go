package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcptest"
)

// mcpClient is the program mcpclient of stories: it starts nexus mcp, or goes to
// one over HTTP, and makes the calls that [mcptest.Client.MakeCalls] describes. What
// the server says on its standard error is in $WORK/mcp.err.
func mcpClient() {
	c := &mcptest.Client{Out: os.Stdout, Err: os.Stderr}
	flag.StringVar(&c.Ask, "ask", "", "yes or no, to every question, or @PIPE to read that from; otherwise it cannot be asked")
	address := flag.String("http", "", "`URL` of the server")
	token := flag.String("token", "", "`TOKEN` for that")
	pid := flag.String("pid", "", "`FILE` for the server's process")
	flag.Parse()
	var err error
	if *address != "" {
		if err = c.ConnectHTTP(context.Background(), *address, *token); err == nil {
			err = c.MakeCalls(context.Background(), flag.Args())
			c.Close()
		}
	} else {
		err = mcpServer(c, *pid, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpclient:", err)
		os.Exit(1)
	}
}

// mcpServer makes calls of a server that it starts, and waits for its end.
func mcpServer(c *mcptest.Client, pid string, calls []string) (err error) {
	server := exec.Command("nexus", "mcp")
	said, err := os.OpenFile(filepath.Join(os.Getenv("WORK"), "mcp.err"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	server.Stderr = io.MultiWriter(said) // through a pipe, which breaks when this program dies
	to, err := server.StdinPipe()
	from, err2 := server.StdoutPipe()
	if err := errors.Join(err, err2, server.Start()); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, server.Wait()) }()
	if err := c.ConnectPipes(context.Background(), from, to); err != nil {
		return err
	}
	defer c.Close()
	if pid != "" {
		if err := os.WriteFile(pid, []byte(strconv.Itoa(server.Process.Pid)+"\n"), 0o600); err != nil {
			return err
		}
	}
	return c.MakeCalls(context.Background(), calls)
}
