/** What one option means, and which values it takes; `resolveOptions` has its default. */
export interface OptionFacts {
  readonly text: string
  /** `count` is a whole number from 0 on, `size` one from 1 on; a list holds all allowed texts. */
  readonly takes:
    | 'count'
    | 'size'
    | 'switch'
    | 'text'
    | 'rate'
    | 'clients'
    | 'loopback'
    | readonly string[]
  /** Set where there is no flag for the command line. */
  readonly hasNoFlag?: true
  /** Set where the option has no effect after the start. */
  readonly isFixed?: true
}
