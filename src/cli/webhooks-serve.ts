import type { Command } from 'commander'
import type { Act } from './action.ts'
import { type ServeWords, serveOptions } from './serve-options.ts'

/** Adds `protime webhooks serve`. */
export function addServe(webhooks: Command, act: Act): void {
  const command = webhooks
    .command('serve')
    .description(
      'receive the deliveries of webhooks, keep the webhooks alive, and start a sync when something changes',
    )
  for (const option of serveOptions()) command.addOption(option)
  command.action(async (words: ServeWords) => {
    const { serveAction } = await import('./serve-action.ts')
    await act(serveAction(words, process.env))
  })
}
