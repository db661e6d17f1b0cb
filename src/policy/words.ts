// The words at the head of policy and config files. They stand alone so that whoever writes or names such a file need not load a schema.

export const API_VERSION = 'capkeeper/v1'
export const POLICY_KIND = 'CapPolicy'
export const CONFIG_KIND = 'Config'
