/** The end of a help text: command lines that can be copied. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ protime ${line}`).join('\n')}\n`
}
