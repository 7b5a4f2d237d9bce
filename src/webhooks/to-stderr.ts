/** Tells the operator of a program that has given no log. */
export function toStderr(message: string): void {
  process.stderr.write(`source-protime/webhooks: ${message}\n`)
}
