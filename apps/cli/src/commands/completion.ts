import { completionScript, type Shell, shells } from '../completion';
import { UsageFailure } from '../failure';
import { type Cli, command } from '../layer/define';

/** `baton completion <shell>`. */
export function completionCommand(cli: Cli): void {
  command(cli, cli.program, {
    name: 'completion <shell>',
    about: `print a script that completes commands and options: ${shells.join(', ')}`,
    uses: [],
    examples: [
      'completion bash > /etc/bash_completion.d/baton',
      'completion fish > ~/.config/fish/completions/baton.fish',
    ],
    run: ({ args: [shell], io }) => {
      if (!(shells as readonly string[]).includes(shell))
        throw new UsageFailure(`completion ${shell}: expected one of ${shells.join(', ')}`);
      io.out(completionScript(cli.program, shell as Shell));
    },
  });
}
