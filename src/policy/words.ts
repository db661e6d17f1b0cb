// The first words of policy and config files, in their own file so that using them does not load a schema.

export const API_VERSION = 'capkeeper/v1'
export const POLICY_KIND = 'CapPolicy'
export const CONFIG_KIND = 'Config'
