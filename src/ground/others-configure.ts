/**
 * Whether others write the configuration than those who run the connector, by `DEPLOYMENT_MODE=cloud` or
 * `PROTIME_PUBLIC_ONLY`. Then it reaches neither the private network nor the disk of the machine.
 */
export function othersConfigure(env: NodeJS.ProcessEnv = process.env): boolean {
  const mode = env['DEPLOYMENT_MODE']?.trim().toLowerCase()
  const asked = env['PROTIME_PUBLIC_ONLY']?.trim() ?? ''
  return mode === 'cloud' || !/^(0|false|no|off)?$/i.test(asked)
}
