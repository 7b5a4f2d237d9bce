/** The configuration that `protime init` writes, and the others read, where `--config` names none. */
export const CONFIG_FILE = 'config.json'
