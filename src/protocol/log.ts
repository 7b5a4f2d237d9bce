/** Words for the operator. Secrets are masked by whoever writes them out. */
export interface Log {
  info(message: string): void
  warn(message: string): void
  debug(message: string): void
}
