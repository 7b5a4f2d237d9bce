import { Option } from 'commander'

/** The words of the command line as they were given. */
export interface ServeWords {
  readonly publicUrl?: string
  readonly listen: string
  readonly store?: string
  readonly collection?: string
  readonly catalog?: string
  readonly run?: string
  readonly airbyteConnection?: string
  readonly post?: string
  readonly debounce: string
  readonly maxWait: string
  readonly minInterval?: string
  readonly watchInterval: string
  readonly retry: string
  readonly poll: string
  readonly adopt?: true
  readonly keysOnly?: true
  readonly once?: true
  readonly unsubscribe?: true
}

/** Every option of `protime webhooks serve`, in the order of its help. */
export function serveOptions(): Option[] {
  const option = (flags: string, text: string, fallback?: string) => {
    const made = new Option(flags, text)
    return fallback === undefined ? made : made.default(fallback)
  }
  return [
    option(
      '--public-url <url>',
      'where the service reaches this program: an https address, with a path or without',
    ),
    option('--listen <address>', 'host and port to listen at, without TLS', '127.0.0.1:8080'),
    option(
      '--store <file>',
      'where the webhooks and their keys are kept; readable by its owner only',
    ),
    option('--collection <names>', 'subscribe only these collections, separated by commas'),
    option(
      '--catalog <file>',
      'the catalog of the pipeline, of Airbyte or Singer: warn of what is subscribed and not chosen there',
    ),
    option(
      '--run <command>',
      'sync by this command of the shell, which has PROTIME_STREAMS and PROTIME_REASON',
    ),
    option(
      '--airbyte-connection <id>',
      'sync by this connection of Airbyte (AIRBYTE_URL, AIRBYTE_CLIENT_ID, AIRBYTE_CLIENT_SECRET)',
    ),
    option(
      '--post <url>',
      'sync by a request to this address, with streams and reason as JSON; the password of a user in it is PROTIME_POST_PASSWORD',
    ),
    option('--debounce <seconds>', 'sync when no delivery has come for so long', '10'),
    option('--max-wait <seconds>', 'but wait no longer than this after the first', '60'),
    option(
      '--min-interval <seconds>',
      'from the start of one sync to the next: 60 with --run, 300 otherwise',
    ),
    option(
      '--retry <seconds>',
      'wait so long after a sync that failed, doubled each time up to 30 minutes, or was busy',
      '60',
    ),
    option('--poll <seconds>', 'ask so often whether an Airbyte job has ended', '30'),
    option('--watch-interval <seconds>', 'look after the webhooks so often', '900'),
    option('--adopt', 'delete webhooks with the public URL whose keys are not in the store'),
    option('--keys-only', 'make no webhooks: take the store as it is, and follow its changes'),
    option('--once', 'end after the first sync; with exit code 1 if it failed'),
    option('--unsubscribe', 'delete the webhooks of the store, empty it, and end'),
  ]
}
