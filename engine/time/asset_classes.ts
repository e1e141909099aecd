/** Classes of instruments: they differ in the days on which they trade. */
export const ASSET_CLASSES = ["forex", "crypto", "stock"] as const;

export type AssetClass = (typeof ASSET_CLASSES)[number];
