import { Option } from 'commander'

/** The values of the command line, unparsed. */
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
      'the https address at which the service reaches this program, with or without a path',
    ),
    option('--listen <address>', 'host and port to listen at, without TLS', '127.0.0.1:8080'),
    option(
      '--store <file>',
      'the file for the webhooks and their keys; only its owner can read it',
    ),
    option('--collection <names>', 'subscribe only to these collections, separated by commas'),
    option(
      '--catalog <file>',
      'the catalog of the pipeline (Airbyte or Singer): warn about subscribed collections that it does not select',
    ),
    option(
      '--run <command>',
      'sync with this shell command, which gets PROTIME_STREAMS and PROTIME_REASON',
    ),
    option(
      '--airbyte-connection <id>',
      'sync with this Airbyte connection (AIRBYTE_URL, AIRBYTE_CLIENT_ID, AIRBYTE_CLIENT_SECRET)',
    ),
    option(
      '--post <url>',
      'sync with a request to this address, with streams and reason as JSON; if it has a user name, the password is PROTIME_POST_PASSWORD',
    ),
    option('--debounce <seconds>', 'sync when no delivery has arrived for this long', '10'),
    option('--max-wait <seconds>', 'but wait no longer than this after the first delivery', '60'),
    option(
      '--min-interval <seconds>',
      'least time from the start of one sync to the start of the next: 60 with --run, 300 otherwise',
    ),
    option(
      '--retry <seconds>',
      'wait this long after a sync that failed or was busy; doubled after each failure, up to 30 minutes',
      '60',
    ),
    option('--poll <seconds>', 'how often to ask whether an Airbyte job has ended', '30'),
    option('--watch-interval <seconds>', 'how often to check the webhooks', '900'),
    option('--adopt', 'delete webhooks with the public URL whose keys are not in the store'),
    option('--keys-only', 'create no webhooks: use those of the store, and follow its changes'),
    option('--once', 'end after the first sync; with exit code 1 if it failed'),
    option('--unsubscribe', 'delete the webhooks of the store, empty it, and end'),
  ]
}
