"""WorkBench: requests carried out with tools on a workplace, judged by the state they leave."""
