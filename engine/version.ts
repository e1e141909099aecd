/** Version of the simulator's meaning: it rises whenever the same inputs would give another result. */
export const ENGINE_VERSION = "1.6.0";
