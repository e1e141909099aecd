/** The mean price of units and of those that are added to them. Equal prices are not multiplied and divided again: 98.01 stays 98.01. */
export function meanPrice(price: number, units: number, addedPrice: number, addedUnits: number): number {
  if (units === 0) return addedPrice;
  if (price === addedPrice) return price;
  return (price * units + addedPrice * addedUnits) / (units + addedUnits);
}
