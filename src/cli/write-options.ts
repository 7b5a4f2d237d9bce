/** The options of `protime write`. */
export interface WriteOptions {
  readonly from: string
  readonly dryRun?: true
  readonly mirror?: true
  readonly showValues?: true
}
